module @jit_cond attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf32>, %arg1: tensor<i1>, %arg2: tensor<i1>) -> (tensor<3x5xf32> {jax.result_info = "result[0][0]"}, tensor<f32> {jax.result_info = "result[0][1]"}, tensor<3x5xf32> {jax.result_info = "result[1][0]"}, tensor<f32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<i1>) -> tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %4 = func.call @_flip(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %5 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %4, %5 : tensor<3x5xf32>, tensor<f32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
      %5 = stablehlo.multiply %arg0, %4 : tensor<3x5xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %5, %6 : tensor<3x5xf32>, tensor<f32>
    }) : (tensor<i32>) -> (tensor<3x5xf32>, tensor<f32>)
    %2 = stablehlo.convert %arg2 : (tensor<i1>) -> tensor<i32>
    %3:2 = "stablehlo.case"(%2) ({
      %4 = func.call @_flip(%arg0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
      %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %5 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %4, %5 : tensor<3x5xf32>, tensor<f32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
      %5 = stablehlo.multiply %arg0, %4 : tensor<3x5xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %5, %6 : tensor<3x5xf32>, tensor<f32>
    }) : (tensor<i32>) -> (tensor<3x5xf32>, tensor<f32>)
    return %1#0, %1#1, %3#0, %3#1 : tensor<3x5xf32>, tensor<f32>, tensor<3x5xf32>, tensor<f32>
  }
  func.func private @_flip(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}
