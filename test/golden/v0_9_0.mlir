// StableHLO 0.9.0: the first with guarantees; f8E5M2, f8E4M3FN, i4 and ui4.
func.func @main(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E5M2>) -> (tensor<4x2xf32>, tensor<4xf8E5M2>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xf32>
  %zero = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %0, %2 : tensor<4x2xf32>, tensor<4xf8E5M2>
}
func.func @constants() -> (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<2xi4>, tensor<2xui4>) {
  %0 = stablehlo.constant dense<[4.480000e+02, 0x7F, -0.000000e+00, 0x01]> : tensor<4xf8E4M3FN>
  %1 = stablehlo.constant dense<[5.734400e+04, 0x7C, 0x7E, 0x01]> : tensor<4xf8E5M2>
  %2 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %3 = stablehlo.constant dense<[0, 15]> : tensor<2xui4>
  return %0, %1, %2, %3 : tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<2xi4>, tensor<2xui4>
}
func.func @quantized(%a: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
