module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<512xROWSxf32>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<ROWSx512xf32>) -> tensor<512xROWSxf32>
    return %0 : tensor<512xROWSxf32>
  }
}
