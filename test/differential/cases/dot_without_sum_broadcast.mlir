// fused into the loops of a broadcast
// arg 0x0000004000004040
// result bits 0x000000410000004100000041000090410000904100009041
func.func @main(%arg0: tensor<1x2xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [1] x [1], contracting_dims = [] x [] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x1x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x1x1xf32>) -> tensor<2xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.add %2, %2 : tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
