// StableHLO 1.7.0: f8E4M3 and f8E3M4.
func.func @main(%a: tensor<4x8xf8E4M3>, %b: tensor<8x2xf8E3M4>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3>, tensor<8x2xf8E3M4>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func @constants() -> (tensor<4xf8E4M3>, tensor<4xf8E3M4>) {
  %0 = stablehlo.constant dense<[2.400000e+02, 0x78, 0x7C, 0x01]> : tensor<4xf8E4M3>
  %1 = stablehlo.constant dense<[1.550000e+01, 0x70, 0x78, 0x01]> : tensor<4xf8E3M4>
  return %0, %1 : tensor<4xf8E4M3>, tensor<4xf8E3M4>
}
