// RUN: fp8-opt %s --stablehlo-concatenate-to-tensor | FileCheck %s

// Each operand has its place; one without elements has none.
// CHECK-LABEL: func.func @main(
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<2x9xf8E4M3FN>
// CHECK-NEXT: %[[A:.*]] = tensor.insert_slice %arg0 into %[[EMPTY]][0, 0] [2, 4] [1, 1]
// CHECK-NEXT: %[[B:.*]] = tensor.insert_slice %arg2 into %[[A]][0, 4] [2, 5] [1, 1]
// CHECK-NEXT: return %[[B]]
func.func @main(%a: tensor<2x4xf8E4M3FN>, %b: tensor<2x0xf8E4M3FN>, %c: tensor<2x5xf8E4M3FN>)
    -> tensor<2x9xf8E4M3FN> {
  %0 = stablehlo.concatenate %a, %b, %c, dim = 1
    : (tensor<2x4xf8E4M3FN>, tensor<2x0xf8E4M3FN>, tensor<2x5xf8E4M3FN>) -> tensor<2x9xf8E4M3FN>
  return %0 : tensor<2x9xf8E4M3FN>
}

// Sizes that are not known are left to others.
// CHECK-LABEL: func.func @dynamic(
// CHECK: stablehlo.concatenate
func.func @dynamic(%a: tensor<?xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
