// four times the product: fused into a loop of four
// arg 0x00000000000010400000000000000840
// result bits 0x00000000000030400000000000002240
func.func @main(%arg0: tensor<2xf64>) -> tensor<2x4xf16> {
  %0 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2xf64>) -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}
