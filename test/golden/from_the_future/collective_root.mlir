// since 1.20.0: collective_broadcast from a root that is an operand.
func.func @main(%a: tensor<4xf8E4M3FN>, %root: tensor<1xi32>) -> tensor<4xf8E4M3FN> {
  %0 = "stablehlo.collective_broadcast"(%a, %root) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>, tensor<1xi32>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
