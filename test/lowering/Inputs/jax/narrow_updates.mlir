module @jit_narrow_updates attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x4xf8E4M3FN>, %arg1: tensor<2x3xi32>) -> (tensor<2x3x4xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<2x6x4xf8E4M3FN> {jax.result_info = "result[1]"}, tensor<6xf8E4M3FN> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %1 = call @take_along_axis(%arg0, %0) : (tensor<2x6x4xf8E4M3FN>, tensor<2x3x1xi32>) -> tensor<2x3x4xf8E4M3FN>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %3 = stablehlo.compare LT, %arg1, %2, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %5 = stablehlo.add %arg1, %4 : tensor<2x3xi32>
    %6 = stablehlo.select %3, %5, %arg1 : tensor<2x3xi1>, tensor<2x3xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %8 = "stablehlo.scatter"(%arg0, %7, %1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f8E4M3FN>, %arg3: tensor<f8E4M3FN>):
      %10 = stablehlo.add %arg2, %arg3 : tensor<f8E4M3FN>
      stablehlo.return %10 : tensor<f8E4M3FN>
    }) : (tensor<2x6x4xf8E4M3FN>, tensor<2x3x1xi32>, tensor<2x3x4xf8E4M3FN>) -> tensor<2x6x4xf8E4M3FN>
    %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f8E4M3FN>
    %9 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x6x4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<6xf8E4M3FN>
    return %1, %8, %9 : tensor<2x3x4xf8E4M3FN>, tensor<2x6x4xf8E4M3FN>, tensor<6xf8E4M3FN>
  }
  func.func private @take_along_axis(%arg0: tensor<2x6x4xf8E4M3FN>, %arg1: tensor<2x3x1xi32>) -> tensor<2x3x4xf8E4M3FN> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x1xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x3x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2x3x1xi1>, tensor<2x3x1xi32>
    %c_1 = stablehlo.constant dense<5> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x3x1xi32>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x1xi1>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<2x3x1xi32>
    %9 = stablehlo.compare LE, %4, %8, SIGNED : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x1xi1>
    %10 = stablehlo.and %6, %9 : tensor<2x3x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.reduce(%10 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<2x3x1xi1>, tensor<i1>) -> tensor<2x3xi1>
    %12 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<2x6x4xf8E4M3FN>, tensor<2x3x1xi32>) -> tensor<2x3x4xf8E4M3FN>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x3xi1>) -> tensor<2x3x4xi1>
    %cst = stablehlo.constant dense<0x7F> : tensor<f8E4M3FN>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f8E4M3FN>) -> tensor<2x3x4xf8E4M3FN>
    %15 = stablehlo.select %13, %12, %14 : tensor<2x3x4xi1>, tensor<2x3x4xf8E4M3FN>
    return %15 : tensor<2x3x4xf8E4M3FN>
  }
}
