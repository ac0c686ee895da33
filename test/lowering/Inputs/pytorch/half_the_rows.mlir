module {
  func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %cst_0 = arith.constant dense<1> : tensor<1xi64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.floordivsi %0, %c2_i64 : i64
    %2 = arith.index_cast %1 : i64 to index
    %from_elements = tensor.from_elements %2, %c3 : tensor<2xindex>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst, %from_elements, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x3xf32>
    %4 = stablehlo.convert %cst_0 : (tensor<1xi64>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = shape.shape_of %3 : tensor<?x3xf32> -> tensor<2xindex>
    %7 = stablehlo.dynamic_broadcast_in_dim %3, %6, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %8 = stablehlo.dynamic_broadcast_in_dim %5, %6, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x3xf32>
    %9 = stablehlo.add %7, %8 : tensor<?x3xf32>
    return %9 : tensor<?x3xf32>
  }
}
