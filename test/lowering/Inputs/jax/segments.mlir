module @jit_segments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x3xf32>, %arg1: tensor<20xi32>, %arg2: tensor<20xi32>) -> (tensor<7x3xf32> {jax.result_info = "result[0]"}, tensor<7x3xf32> {jax.result_info = "result[1]"}, tensor<7xi32> {jax.result_info = "result[2]"}, tensor<20x3xf32> {jax.result_info = "result[3]"}, tensor<9xi32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %2 = "stablehlo.scatter"(%0, %1, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<7x3xf32>, tensor<20x1xi32>, tensor<20x3xf32>) -> tensor<7x3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %5 = "stablehlo.scatter"(%3, %4, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<7x3xf32>, tensor<20x1xi32>, tensor<20x3xf32>) -> tensor<7x3xf32>
    %6 = call @sort(%arg1) : (tensor<20xi32>) -> tensor<20xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %8 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %9 = "stablehlo.scatter"(%7, %8, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %45 = stablehlo.multiply %arg3, %arg4 : tensor<i32>
      stablehlo.return %45 : tensor<i32>
    }) : (tensor<7xi32>, tensor<20x1xi32>, tensor<20xi32>) -> tensor<7xi32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %11 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %12 = "stablehlo.scatter"(%10, %11, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<7x3xf32>, tensor<20x1xi32>, tensor<20x3xf32>) -> tensor<7x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %14 = stablehlo.multiply %12, %12 : tensor<7x3xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %16 = stablehlo.multiply %15, %12 : tensor<7x3xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %18 = stablehlo.multiply %14, %17 : tensor<7x3xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<7x3xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<7x3xf32>
    %23 = stablehlo.multiply %22, %16 : tensor<7x3xf32>
    %c_8 = stablehlo.constant dense<6> : tensor<1xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<20x1xi32>
    %25 = stablehlo.compare GE, %11, %24, SIGNED : (tensor<20x1xi32>, tensor<20x1xi32>) -> tensor<20x1xi1>
    %26 = stablehlo.broadcast_in_dim %c_8, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<20x1xi32>
    %28 = stablehlo.compare LE, %11, %27, SIGNED : (tensor<20x1xi32>, tensor<20x1xi32>) -> tensor<20x1xi1>
    %29 = stablehlo.and %25, %28 : tensor<20x1xi1>
    %c_10 = stablehlo.constant dense<true> : tensor<i1>
    %30 = stablehlo.reduce(%29 init: %c_10) applies stablehlo.and across dimensions = [1] : (tensor<20x1xi1>, tensor<i1>) -> tensor<20xi1>
    %31 = "stablehlo.gather"(%23, %11) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<20x1xi32>) -> tensor<20x3xf32>
    %32 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<20xi1>) -> tensor<20x3xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<20x3xf32>
    %34 = stablehlo.select %32, %31, %33 : tensor<20x3xi1>, tensor<20x3xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %36 = call @clip(%arg2, %c_13) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %38 = stablehlo.compare LT, %36, %37, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %c_15 = stablehlo.constant dense<9> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %40 = stablehlo.add %36, %39 : tensor<20xi32>
    %41 = stablehlo.select %38, %40, %36 : tensor<20xi1>, tensor<20xi32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %c_16 = stablehlo.constant dense<1> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %44 = "stablehlo.scatter"(%35, %42, %43) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %45 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %45 : tensor<i32>
    }) : (tensor<9xi32>, tensor<20x1xi32>, tensor<20xi32>) -> tensor<9xi32>
    return %2, %5, %9, %34, %44 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<7xi32>, tensor<20x3xf32>, tensor<9xi32>
  }
  func.func private @sort(%arg0: tensor<20xi32>) -> tensor<20xi32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<20xi32>) -> tensor<20xi32>
    return %0 : tensor<20xi32>
  }
  func.func private @clip(%arg0: tensor<20xi32>, %arg1: tensor<i32>) -> tensor<20xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<20xi32>
    return %2 : tensor<20xi32>
  }
}
