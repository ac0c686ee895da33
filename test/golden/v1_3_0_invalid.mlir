// refused: all_gather since 1.5.0
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>) {
  %0:2 = "stablehlo.all_gather"(%a, %b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>, tensor<4xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf8E4M3FN>, tensor<8xf32>
}
