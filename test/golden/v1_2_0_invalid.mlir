// refused: custom_call since 1.3.0
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.custom_call @foo(%a) {api_version = 4 : i32, backend_config = {fast = true}} : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
