// StableHLO 0.18.0: types quantized per axis.
func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01:1}>>) -> tensor<2x4xf8E4M3FN> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01:1}>>) -> tensor<2x4xf32>
  %1 = stablehlo.convert %0 : (tensor<2x4xf32>) -> tensor<2x4xf8E4M3FN>
  return %1 : tensor<2x4xf8E4M3FN>
}
