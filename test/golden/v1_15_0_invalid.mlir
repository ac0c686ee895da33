// refused: collective_reduce since 1.19.0
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    %1 = stablehlo.add %x, %y : tensor<f8E4M3FN>
    stablehlo.return %1 : tensor<f8E4M3FN>
  }) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
