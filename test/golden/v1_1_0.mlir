// StableHLO 1.1.0: batching dimensions of gather and scatter.
func.func @main(%a: tensor<3x8xf8E4M3FN>, %i: tensor<3x2x1xi32>, %u: tensor<3x2xf8E4M3FN>) -> (tensor<3x2xf8E4M3FN>, tensor<3x8xf8E4M3FN>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1>}> : (tensor<3x8xf8E4M3FN>, tensor<3x2x1xi32>) -> tensor<3x2xf8E4M3FN>
  %1 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = true}> ({
  ^bb0(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>):
    stablehlo.return %y : tensor<f8E4M3FN>
  }) : (tensor<3x8xf8E4M3FN>, tensor<3x2x1xi32>, tensor<3x2xf8E4M3FN>) -> tensor<3x8xf8E4M3FN>
  return %0, %1 : tensor<3x2xf8E4M3FN>, tensor<3x8xf8E4M3FN>
}
