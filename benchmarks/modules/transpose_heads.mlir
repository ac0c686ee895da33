module {
  func.func public @main(%arg0: tensor<4xROWSx8x16xf32>) -> (tensor<4x8xROWSx16xf32>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<4xROWSx8x16xf32>) -> tensor<4x8xROWSx16xf32>
    return %0 : tensor<4x8xROWSx16xf32>
  }
}
