// One layer of a network with FP8 weights: relu(x w) in f32, and the same rounded to f8E4M3FN.
func.func @forward(%x: tensor<2x4xf32>, %w: tensor<4x3xf8E4M3FN>)
    -> (tensor<2x3xf32>, tensor<2x3xf8E4M3FN>) {
  %weights = stablehlo.convert %w : (tensor<4x3xf8E4M3FN>) -> tensor<4x3xf32>
  %product = stablehlo.dot_general %x, %weights, contracting_dims = [1] x [0]
    : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %relu = stablehlo.maximum %product, %zero : tensor<2x3xf32>
  %codes = stablehlo.convert %relu : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
  return %relu, %codes : tensor<2x3xf32>, tensor<2x3xf8E4M3FN>
}
