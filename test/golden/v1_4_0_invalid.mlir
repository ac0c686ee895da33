// refused: all_to_all since 1.5.0
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %b) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf8E4M3FN>, tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf8E4M3FN>, tensor<4xf32>
}
