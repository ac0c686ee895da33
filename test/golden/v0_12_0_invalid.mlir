// refused: collective_broadcast since 0.16.0
func.func @main(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
