// StableHLO 1.15.0: async_start, async_done and the future type.
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf8E4M3FN>):
    %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN>
    stablehlo.return %2 : tensor<8xf8E4M3FN>
  }) : (tensor<4xf8E4M3FN>) -> !stablehlo.future<tensor<8xf8E4M3FN>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf8E4M3FN>>) -> tensor<8xf8E4M3FN>
  return %1 : tensor<8xf8E4M3FN>
}
