func.func @main(%a: tensor<3xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.all_gather"(%a)
    {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
