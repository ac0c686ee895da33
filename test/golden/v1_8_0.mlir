// StableHLO 1.8.0: f4E2M1FN, f6E2M3FN, f6E3M2FN and f8E8M0FNU.
func.func @main(%a: tensor<4x32xf4E2M1FN>, %scale: tensor<4x1xf8E8M0FNU>) -> tensor<4x32xbf16> {
  %0 = stablehlo.convert %a : (tensor<4x32xf4E2M1FN>) -> tensor<4x32xbf16>
  %1 = stablehlo.convert %scale : (tensor<4x1xf8E8M0FNU>) -> tensor<4x1xbf16>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x1xbf16>) -> tensor<4x32xbf16>
  %3 = stablehlo.multiply %0, %2 : tensor<4x32xbf16>
  return %3 : tensor<4x32xbf16>
}
func.func @constants() -> (tensor<4xf4E2M1FN>, tensor<3xf6E2M3FN>, tensor<3xf6E3M2FN>, tensor<3xf8E8M0FNU>) {
  %0 = stablehlo.constant dense<[6.000000e+00, -0.000000e+00, 5.000000e-01, -1.500000e+00]> : tensor<4xf4E2M1FN>
  %1 = stablehlo.constant dense<[7.500000e+00, -0.000000e+00, 1.250000e-01]> : tensor<3xf6E2M3FN>
  %2 = stablehlo.constant dense<[2.800000e+01, -0.000000e+00, 6.250000e-02]> : tensor<3xf6E3M2FN>
  %3 = stablehlo.constant dense<[1.000000e+00, 0xFF, 0x00]> : tensor<3xf8E8M0FNU>
  return %0, %1, %2, %3 : tensor<4xf4E2M1FN>, tensor<3xf6E2M3FN>, tensor<3xf6E3M2FN>, tensor<3xf8E8M0FNU>
}
