// refused: recv since 1.12.0
func.func @main(%token: !stablehlo.token) -> (tensor<4xf8E4M3FN>, !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xf8E4M3FN>, !stablehlo.token)
  return %0#0, %0#1 : tensor<4xf8E4M3FN>, !stablehlo.token
}
