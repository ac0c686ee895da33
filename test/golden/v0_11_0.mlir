// StableHLO 0.11.0: f8E4M3B11FNUZ.
func.func @main(%a: tensor<4x8xf8E4M3B11FNUZ>, %b: tensor<8x2xf8E4M3B11FNUZ>) -> tensor<4x2xf8E4M3B11FNUZ> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3B11FNUZ>, tensor<8x2xf8E4M3B11FNUZ>) -> tensor<4x2xf32>
  %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x2xf32>
  %1 = stablehlo.multiply %0, %scale : tensor<4x2xf32>
  %2 = stablehlo.convert %1 : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3B11FNUZ>
  return %2 : tensor<4x2xf8E4M3B11FNUZ>
}
func.func @constants() -> tensor<3xf8E4M3B11FNUZ> {
  %0 = stablehlo.constant dense<[3.000000e+01, 0x80, 0x01]> : tensor<3xf8E4M3B11FNUZ>
  return %0 : tensor<3xf8E4M3B11FNUZ>
}
