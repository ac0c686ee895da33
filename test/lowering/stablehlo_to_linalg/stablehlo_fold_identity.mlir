// RUN: fp8-opt %s --stablehlo-fold-identity | FileCheck %s

// CHECK-LABEL: func.func @scalar(
// CHECK-NEXT: return %arg0, %arg1 : tensor<f8E4M3FN>, tensor<f8E4M3FN>
func.func @scalar(%a: tensor<f8E4M3FN>, %u: tensor<f8E4M3FN>) -> (tensor<f8E4M3FN>, tensor<f8E4M3FN>) {
  %0 = "stablehlo.dynamic_slice"(%a) <{slice_sizes = array<i64>}> : (tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  %1 = "stablehlo.dynamic_update_slice"(%a, %u) : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  return %0, %1 : tensor<f8E4M3FN>, tensor<f8E4M3FN>
}

// CHECK-LABEL: func.func @reshape(
// CHECK-NEXT: %[[OTHER:.*]] = stablehlo.reshape %arg0 : (tensor<ui32>) -> tensor<1xui32>
// CHECK-NEXT: return %arg0, %[[OTHER]] : tensor<ui32>, tensor<1xui32>
func.func @reshape(%a: tensor<ui32>) -> (tensor<ui32>, tensor<1xui32>) {
  %0 = stablehlo.reshape %a : (tensor<ui32>) -> tensor<ui32>
  %1 = stablehlo.reshape %a : (tensor<ui32>) -> tensor<1xui32>
  return %0, %1 : tensor<ui32>, tensor<1xui32>
}
