module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<ROWSx512xf32>) {
    %0 = stablehlo.exponential %arg0 : tensor<ROWSx512xf32>
    return %0 : tensor<ROWSx512xf32>
  }
}
