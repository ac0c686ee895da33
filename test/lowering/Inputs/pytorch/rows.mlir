module {
  func.func @main(%arg0: tensor<?x4xf32>, %arg1: tensor<?xi64>) -> tensor<?x4xf32> {
    %c1_i64 = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg1, %c0 : tensor<?xi64>
    %0 = arith.index_cast %dim : index to i64
    %from_elements = tensor.from_elements %0, %c1_i64 : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %arg1, %from_elements : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x1xi64>
    %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<?x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
}
