// RUN: fp8-opt %s --accumulate-in-f32 --split-input-file | filecheck %s

// What accumulates in the body of another op does so in f32, too, and rounds at its own end.

// CHECK-LABEL: func.func @while(
// CHECK:         stablehlo.while(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<4x4xf8E4M3FN>, tensor<i32>
// CHECK:         do {
// CHECK:           %[[X32:.*]] = stablehlo.convert %[[X]] : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
// CHECK:           %[[DOT:.*]] = stablehlo.dot_general %[[X32]], %{{.*}}, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[DOT]] : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
// CHECK:           stablehlo.return %[[ROUNDED]], %{{.*}} : tensor<4x4xf8E4M3FN>, tensor<i32>
func.func @while(%a: tensor<4x4xf8E4M3FN>, %n: tensor<i32>) -> tensor<4x4xf8E4M3FN> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%x = %a, %i = %one) : tensor<4x4xf8E4M3FN>, tensor<i32>
   cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf8E4M3FN>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %2 : tensor<4x4xf8E4M3FN>, tensor<i32>
  }
  return %0#0 : tensor<4x4xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @case(
// CHECK:         "stablehlo.case"
// CHECK:           %[[SUM:.*]] = stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<f16>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @case(%i: tensor<i32>, %a: tensor<4xf16>, %z: tensor<f16>) -> tensor<f16> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
    stablehlo.return %1 : tensor<f16>
  }, {
    stablehlo.return %z : tensor<f16>
  }) : (tensor<i32>) -> tensor<f16>
  return %0 : tensor<f16>
}

// -----

// CHECK-LABEL: func.func @if(
// CHECK:         "stablehlo.if"
// CHECK:           %[[MAX:.*]] = "stablehlo.reduce_window"(%{{.*}}, %{{.*}})
// CHECK:             ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>):
// CHECK-NEXT:          %[[LARGER:.*]] = stablehlo.maximum %[[X]], %[[Y]] : tensor<f32>
// CHECK-NEXT:          stablehlo.return %[[LARGER]] : tensor<f32>
// CHECK:           %[[ROUNDED:.*]] = stablehlo.convert %[[MAX]] : (tensor<3xf32>) -> tensor<3xf8E5M2>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]]
func.func @if(%p: tensor<i1>, %a: tensor<4xf8E5M2>, %b: tensor<3xf8E5M2>, %i: tensor<f8E5M2>) -> tensor<3xf8E5M2> {
  %0 = "stablehlo.if"(%p) ({
    %1 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%x: tensor<f8E5M2>, %y: tensor<f8E5M2>):
      %2 = stablehlo.maximum %x, %y : tensor<f8E5M2>
      stablehlo.return %2 : tensor<f8E5M2>
    }) : (tensor<4xf8E5M2>, tensor<f8E5M2>) -> tensor<3xf8E5M2>
    stablehlo.return %1 : tensor<3xf8E5M2>
  }, {
    stablehlo.return %b : tensor<3xf8E5M2>
  }) : (tensor<i1>) -> tensor<3xf8E5M2>
  return %0 : tensor<3xf8E5M2>
}

// -----

// Control flow inside the body of a reduction carries f32.

// CHECK-LABEL: func.func @branches_in_a_reduction(
// CHECK:         reducer(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>)
// CHECK:           %[[CHOSEN:.*]] = "stablehlo.if"
// CHECK:             %[[SUM:.*]] = stablehlo.add %[[X]], %[[Y]] : tensor<f32>
// CHECK-NEXT:        stablehlo.return %[[SUM]] : tensor<f32>
// CHECK:             stablehlo.return %[[X]] : tensor<f32>
// CHECK:           stablehlo.return %[[CHOSEN]] : tensor<f32>
func.func @branches_in_a_reduction(%a: tensor<4x8xbf16>, %i: tensor<bf16>) -> tensor<4xbf16> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
   reducer(%x: tensor<bf16>, %y: tensor<bf16>) {
    %p = stablehlo.compare GT, %y, %x : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %1 = "stablehlo.if"(%p) ({
      %2 = stablehlo.add %x, %y : tensor<bf16>
      stablehlo.return %2 : tensor<bf16>
    }, {
      stablehlo.return %x : tensor<bf16>
    }) : (tensor<i1>) -> tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }
  return %0 : tensor<4xbf16>
}

// -----

// Scatters and collectives do not accumulate: each step of theirs rounds.

// CHECK-LABEL: func.func @each_step_rounds(
// CHECK:         "stablehlo.select_and_scatter"
// CHECK:           stablehlo.add %{{.*}}, %{{.*}} : tensor<f8E4M3FN>
// CHECK:         "stablehlo.all_reduce"
// CHECK:           stablehlo.add %{{.*}}, %{{.*}} : tensor<f8E4M3FN>
func.func @each_step_rounds(%a: tensor<8xf8E4M3FN>, %s: tensor<4xf8E4M3FN>, %i: tensor<f8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.add %x, %y : tensor<f8E4M3FN>
    stablehlo.return %1 : tensor<f8E4M3FN>
  }) : (tensor<8xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<8xf8E4M3FN>
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %2 = stablehlo.add %x, %y : tensor<f8E4M3FN>
    stablehlo.return %2 : tensor<f8E4M3FN>
  }) : (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  return %1 : tensor<8xf8E4M3FN>
}
