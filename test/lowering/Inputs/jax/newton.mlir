module @jit_newton attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<3xf32>
    %2:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0, %iterArg_1 = %1) : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
    cond {
      %3 = stablehlo.subtract %iterArg_0, %iterArg_1 : tensor<3xf32>
      %4 = stablehlo.abs %3 : tensor<3xf32>
      %cst_2 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %6 = stablehlo.compare GT, %4, %5, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %c = stablehlo.constant dense<false> : tensor<i1>
      %7 = stablehlo.reduce(%6 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %3 = stablehlo.divide %iterArg, %iterArg_0 : tensor<3xf32>
      %4 = stablehlo.add %iterArg_0, %3 : tensor<3xf32>
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %6 = stablehlo.divide %4, %5 : tensor<3xf32>
      stablehlo.return %iterArg, %6, %iterArg_0 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
    }
    return %2#1 : tensor<3xf32>
  }
}
