// StableHLO 0.10.0: f8E4M3FNUZ and f8E5M2FNUZ.
func.func @main(%a: tensor<4x8xf8E4M3FNUZ>, %b: tensor<8x2xf8E5M2FNUZ>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FNUZ>, tensor<8x2xf8E5M2FNUZ>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func @constants() -> (tensor<3xf8E4M3FNUZ>, tensor<3xf8E5M2FNUZ>) {
  %0 = stablehlo.constant dense<[2.400000e+02, 0x80, 0x01]> : tensor<3xf8E4M3FNUZ>
  %1 = stablehlo.constant dense<[5.734400e+04, 0x80, 0x01]> : tensor<3xf8E5M2FNUZ>
  return %0, %1 : tensor<3xf8E4M3FNUZ>, tensor<3xf8E5M2FNUZ>
}
