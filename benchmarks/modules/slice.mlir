module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<ROWSx506xf32>) {
    %0 = stablehlo.slice %arg0 [0:ROWS, 3:509] : (tensor<ROWSx512xf32>) -> tensor<ROWSx506xf32>
    return %0 : tensor<ROWSx506xf32>
  }
}
