module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>, %arg1: tensor<ROWSx512xf32>) -> (tensor<ROWSx1024xf32>) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<ROWSx512xf32>, tensor<ROWSx512xf32>) -> tensor<ROWSx1024xf32>
    return %0 : tensor<ROWSx1024xf32>
  }
}
