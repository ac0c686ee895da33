// refused: per-axis since 0.18.0
func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01:1}>>) -> tensor<2x4xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x4x!quant.uniform<i8:f32:0, {5.000000e-01, 2.500000e-01:1}>>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
