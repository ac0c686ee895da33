// StableHLO 1.3.0: a dictionary as the backend_config of custom_call.
func.func @main(%a: tensor<16x16xf8E4M3FN>, %b: tensor<16x16xf8E5M2>, %scale: tensor<f32>) -> tensor<16x16xbf16> {
  %0 = stablehlo.custom_call @scaled_matmul(%a, %b, %scale) {api_version = 4 : i32, backend_config = {alpha = 1.000000e+00 : f32, epilogue = "RELU", fast_accumulation = true}} : (tensor<16x16xf8E4M3FN>, tensor<16x16xf8E5M2>, tensor<f32>) -> tensor<16x16xbf16>
  return %0 : tensor<16x16xbf16>
}
