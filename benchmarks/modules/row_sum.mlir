module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<ROWSxf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<ROWSx512xf32>, tensor<f32>) -> tensor<ROWSxf32>
    return %0 : tensor<ROWSxf32>
  }
}
