// RUN: fp8-opt %s --stablehlo-fold-transposes --split-input-file | filecheck %s

// CHECK-LABEL: func.func @there_and_back(
// CHECK:         %[[ONE:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK:         return %arg0, %[[ONE]]
func.func @there_and_back(%a: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// -----

// Without an element moved, but with another type.
// CHECK-LABEL: func.func @open_size(
// CHECK-NEXT:    stablehlo.transpose %arg0, dims = [0, 1]
func.func @open_size(%a: tensor<2x?xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.transpose %a, dims = [0, 1] : (tensor<2x?xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @dots(
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general %arg1, %arg0, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, HIGH] : (tensor<4x2x5x6xf8E5M2>, tensor<2x3x4xf8E4M3FN>) -> tensor<2x5x6x3xf32>
// CHECK-NEXT:    return %[[DOT]]
func.func @dots(%a: tensor<2x3x4xf8E4M3FN>, %b: tensor<4x2x5x6xf8E5M2>) -> tensor<2x5x6x3xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3x4xf8E4M3FN>, tensor<4x2x5x6xf8E5M2>) -> tensor<2x3x5x6xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 3, 1] : (tensor<2x3x5x6xf32>) -> tensor<2x5x6x3xf32>
  return %1 : tensor<2x5x6x3xf32>
}

// -----

// Free dimensions of one operand that change places; a dot that another op reads.
// CHECK-LABEL: func.func @not_these(
// CHECK:         stablehlo.transpose {{.*}} dims = [2, 1, 0]
// CHECK:         stablehlo.transpose {{.*}} dims = [1, 0]
func.func @not_these(%a: tensor<3x4xf32>, %b: tensor<4x5x6xf32>, %c: tensor<4x7xf32>) -> (tensor<6x5x3xf32>, tensor<7x3xf32>, tensor<3x7xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5x6xf32>) -> tensor<3x5x6xf32>
  %1 = stablehlo.transpose %0, dims = [2, 1, 0] : (tensor<3x5x6xf32>) -> tensor<6x5x3xf32>
  %2 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x7xf32>) -> tensor<3x7xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x7xf32>) -> tensor<7x3xf32>
  return %1, %3, %2 : tensor<6x5x3xf32>, tensor<7x3xf32>, tensor<3x7xf32>
}
