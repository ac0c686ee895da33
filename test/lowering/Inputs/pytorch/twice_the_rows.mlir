module {
  func.func @main(%arg0: tensor<?x4xf32>) -> tensor<2x2xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %2 = arith.muli %0, %c2_i64 : i64
    %from_elements = tensor.from_elements %2, %c2_i64, %c2_i64 : tensor<3xi64>
    %3 = stablehlo.dynamic_reshape %1, %from_elements : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x2x2xf32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<?x2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    return %4 : tensor<2x2xf32>
  }
}
