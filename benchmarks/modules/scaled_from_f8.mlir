module {
  func.func public @main(%arg0: tensor<ROWSx512xf8E4M3FN>, %arg1: tensor<f32>) -> (tensor<ROWSx512xf32>) {
    %0 = stablehlo.convert %arg0 : (tensor<ROWSx512xf8E4M3FN>) -> tensor<ROWSx512xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<ROWSx512xf32>
    return %2 : tensor<ROWSx512xf32>
  }
}
