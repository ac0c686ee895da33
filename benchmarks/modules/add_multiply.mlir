module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>, %arg1: tensor<ROWSx512xf32>) -> (tensor<ROWSx512xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<ROWSx512xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<ROWSx512xf32>
    %2 = stablehlo.subtract %1, %arg1 : tensor<ROWSx512xf32>
    return %2 : tensor<ROWSx512xf32>
  }
}
