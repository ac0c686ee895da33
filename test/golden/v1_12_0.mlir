// StableHLO 1.12.0: source_target_pairs of send and recv.
func.func @main(%a: tensor<4xf8E4M3FN>, %token: !stablehlo.token) -> (tensor<4xf8E4M3FN>, !stablehlo.token) {
  %0 = "stablehlo.send"(%a, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>, !stablehlo.token) -> !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4xf8E4M3FN>, !stablehlo.token)
  return %1#0, %1#1 : tensor<4xf8E4M3FN>, !stablehlo.token
}
