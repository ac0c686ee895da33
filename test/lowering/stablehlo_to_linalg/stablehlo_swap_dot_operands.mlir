// RUN: fp8-opt %s --stablehlo-swap-dot-operands --split-input-file | filecheck %s

// The result's dimensions are the batch and the free ones of one operand: in any order of the two.

// CHECK-LABEL: func.func @matrices_by_vectors(
// CHECK-NEXT:    stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, HIGH] : (tensor<2x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return
func.func @matrices_by_vectors(%a: tensor<2x3x4x5xf32>, %b: tensor<2x4xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<2x3x4x5xf32>, tensor<2x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @matrices_by_matrices(
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
func.func @matrices_by_matrices(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @last_dimensions(
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [3] x [1]
func.func @last_dimensions(%a: tensor<2x3x5x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x3x5x4xf32>, tensor<2x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
