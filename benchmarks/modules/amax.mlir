module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<f32>) {
    %0 = stablehlo.abs %arg0 : tensor<ROWSx512xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<ROWSx512xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
