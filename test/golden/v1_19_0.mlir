// StableHLO 1.19.0: collective_reduce.
func.func @main(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f8E5M2>, %y: tensor<f8E5M2>):
    %1 = stablehlo.maximum %x, %y : tensor<f8E5M2>
    stablehlo.return %1 : tensor<f8E5M2>
  }) : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
