// StableHLO 0.19.0: composite.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.composite "fp8.quantize" %a {composite_attributes = {scale = 5.000000e-01 : f32, to = f8E4M3FN}, decomposition = @quantize, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
func.func private @quantize(%a: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %scale = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
  %0 = stablehlo.divide %a, %scale : tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}
