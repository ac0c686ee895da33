// refused: collective_broadcast since 0.16.0
func.func @main(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
