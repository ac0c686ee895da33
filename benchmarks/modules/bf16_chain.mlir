module {
  func.func public @main(%arg0: tensor<ROWSx512xbf16>, %arg1: tensor<ROWSx512xbf16>) -> (tensor<ROWSx512xbf16>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<ROWSx512xbf16>
    %1 = stablehlo.multiply %0, %arg0 : tensor<ROWSx512xbf16>
    %2 = stablehlo.subtract %1, %arg1 : tensor<ROWSx512xbf16>
    return %2 : tensor<ROWSx512xbf16>
  }
}
