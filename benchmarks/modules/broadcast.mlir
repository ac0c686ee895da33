module {
  func.func public @main(%arg0: tensor<ROWSxf32>, %arg1: tensor<512xf32>) -> (tensor<ROWSx512xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<ROWSxf32>) -> tensor<ROWSx1xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<ROWSx1xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<ROWSx1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<ROWSx1xf32>) -> tensor<ROWSx512xf32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<ROWSx512xf32>
    %6 = stablehlo.add %3, %5 : tensor<ROWSx512xf32>
    return %6 : tensor<ROWSx512xf32>
  }
}
