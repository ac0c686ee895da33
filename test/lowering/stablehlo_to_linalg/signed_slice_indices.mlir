// RUN: fp8-opt %s --signed-slice-indices | FileCheck %s

// CHECK-LABEL: func.func @wide(
// CHECK: %[[LIMIT:.*]] = stablehlo.constant dense<9223372036854775807> : tensor<ui64>
// CHECK: %[[CLAMPED:.*]] = stablehlo.minimum %arg1, %[[LIMIT]] : tensor<ui64>
// CHECK: %[[SIGNED:.*]] = stablehlo.convert %[[CLAMPED]] : (tensor<ui64>) -> tensor<i64>
// CHECK: stablehlo.dynamic_slice %arg0, %[[SIGNED]], sizes = [2] : (tensor<5xf8E4M3FN>, tensor<i64>)
func.func @wide(%a: tensor<5xf8E4M3FN>, %i: tensor<ui64>) -> tensor<2xf8E4M3FN> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<5xf8E4M3FN>, tensor<ui64>) -> tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @narrow(
// CHECK: %[[SIGNED:.*]] = stablehlo.convert %arg2 : (tensor<ui8>) -> tensor<i64>
// CHECK: stablehlo.dynamic_update_slice %arg0, %arg1, %[[SIGNED]]
func.func @narrow(%a: tensor<300xf32>, %u: tensor<2xf32>, %i: tensor<ui8>) -> tensor<300xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<300xf32>, tensor<2xf32>, tensor<ui8>) -> tensor<300xf32>
  return %0 : tensor<300xf32>
}

// CHECK-LABEL: func.func @kept(
// CHECK-NEXT: stablehlo.dynamic_slice %arg0, %arg1
func.func @kept(%a: tensor<5xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
