// refused: send since 1.12.0
func.func @main(%a: tensor<4xf8E4M3FN>, %token: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%a, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
