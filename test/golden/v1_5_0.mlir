// StableHLO 1.5.0: all_gather, all_to_all and all_reduce of several operands.
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %b) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf8E4M3FN>, tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>)
  %1:2 = "stablehlo.all_gather"(%0#0, %0#1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>, tensor<4xf32>) -> (tensor<8xf8E4M3FN>, tensor<8xf32>)
  return %1#0, %1#1 : tensor<8xf8E4M3FN>, tensor<8xf32>
}
func.func @sum(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0:2 = "stablehlo.all_reduce"(%a, %b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
}
