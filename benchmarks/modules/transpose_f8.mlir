module {
  func.func public @main(%arg0: tensor<ROWSx512xf8E4M3FN>) -> (tensor<512xROWSxf8E4M3FN>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<ROWSx512xf8E4M3FN>) -> tensor<512xROWSxf8E4M3FN>
    return %0 : tensor<512xROWSxf8E4M3FN>
  }
}
