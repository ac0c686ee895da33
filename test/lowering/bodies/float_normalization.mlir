// RUN: fp8-opt %s --float-normalization --split-input-file | filecheck %s

// In the body of each op that has one, every op on narrow floats computes in f32 and rounds; what the
// op itself moves keeps the narrow type.

// CHECK-LABEL: func.func @sort(
// CHECK:         "stablehlo.sort"(%{{.*}})
// CHECK:         ^bb0(%[[X:.*]]: tensor<f8E4M3FN>, %[[Y:.*]]: tensor<f8E4M3FN>):
// CHECK-NEXT:      %[[X32:.*]] = stablehlo.convert %[[X]] : (tensor<f8E4M3FN>) -> tensor<f32>
// CHECK-NEXT:      %[[Y32:.*]] = stablehlo.convert %[[Y]] : (tensor<f8E4M3FN>) -> tensor<f32>
// CHECK-NEXT:      %[[LESS:.*]] = stablehlo.compare LT, %[[X32]], %[[Y32]] : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      stablehlo.return %[[LESS]]
// CHECK:         (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
func.func @sort(%a: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @while(
// CHECK:         stablehlo.while(%[[X:.*]] = %{{.*}}) : tensor<f8E5M2>
// CHECK:           stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK:         do {
// CHECK:           %[[SUM:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f8E5M2>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]] : tensor<f8E5M2>
func.func @while(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>) -> tensor<f8E5M2> {
  %0 = stablehlo.while(%x = %a) : tensor<f8E5M2>
   cond {
    %1 = stablehlo.compare LT, %x, %b : (tensor<f8E5M2>, tensor<f8E5M2>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %x, %x : tensor<f8E5M2>
    stablehlo.return %1 : tensor<f8E5M2>
  }
  return %0 : tensor<f8E5M2>
}

// -----

// CHECK-LABEL: func.func @case(
// CHECK:         "stablehlo.case"
// CHECK:           %[[PRODUCT:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[PRODUCT]] : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
// CHECK:           stablehlo.return %arg1 : tensor<bf16>
func.func @case(%i: tensor<i32>, %a: tensor<bf16>) -> tensor<bf16> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.multiply %a, %a : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }, {
    stablehlo.return %a : tensor<bf16>
  }) : (tensor<i32>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// CHECK-LABEL: func.func @if(
// CHECK:         "stablehlo.if"
// CHECK:           %[[TANH:.*]] = stablehlo.tanh %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[TANH]] : (tensor<f32>) -> tensor<f6E2M3FN>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @if(%p: tensor<i1>, %a: tensor<f6E2M3FN>) -> tensor<f6E2M3FN> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.tanh %a : tensor<f6E2M3FN>
    stablehlo.return %1 : tensor<f6E2M3FN>
  }, {
    stablehlo.return %a : tensor<f6E2M3FN>
  }) : (tensor<i1>) -> tensor<f6E2M3FN>
  return %0 : tensor<f6E2M3FN>
}

// -----

// CHECK-LABEL: func.func @map(
// CHECK:         "stablehlo.map"
// CHECK:           %[[DIFFERENCE:.*]] = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[DIFFERENCE]] : (tensor<f32>) -> tensor<f8E4M3FNUZ>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @map(%a: tensor<8xf8E4M3FNUZ>) -> tensor<8xf8E4M3FNUZ> {
  %0 = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f8E4M3FNUZ>, %y: tensor<f8E4M3FNUZ>):
    %1 = stablehlo.subtract %x, %y : tensor<f8E4M3FNUZ>
    stablehlo.return %1 : tensor<f8E4M3FNUZ>
  }) : (tensor<8xf8E4M3FNUZ>, tensor<8xf8E4M3FNUZ>) -> tensor<8xf8E4M3FNUZ>
  return %0 : tensor<8xf8E4M3FNUZ>
}

// -----

// CHECK-LABEL: func.func @select_and_scatter(
// CHECK:         "stablehlo.select_and_scatter"
// CHECK:           stablehlo.compare GE, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK:           %[[SUM:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f8E4M3FN>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @select_and_scatter(%a: tensor<8xf8E4M3FN>, %s: tensor<4xf8E4M3FN>, %i: tensor<f8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.add %x, %y : tensor<f8E4M3FN>
    stablehlo.return %1 : tensor<f8E4M3FN>
  }) : (tensor<8xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @all_reduce(
// CHECK:         "stablehlo.all_reduce"
// CHECK:           %[[SUM:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f8E5M2>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @all_reduce(%a: tensor<8xf8E5M2>) -> tensor<8xf8E5M2> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f8E5M2>, %y: tensor<f8E5M2>):
    %1 = stablehlo.add %x, %y : tensor<f8E5M2>
    stablehlo.return %1 : tensor<f8E5M2>
  }) : (tensor<8xf8E5M2>) -> tensor<8xf8E5M2>
  return %0 : tensor<8xf8E5M2>
}
