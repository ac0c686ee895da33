module @jit_updates attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x5xf32>, %arg1: tensor<4x2xi32>, %arg2: tensor<4x2x5xf32>) -> (tensor<6x5xf32> {jax.result_info = "result[0]"}, tensor<6x5xf32> {jax.result_info = "result[1]"}, tensor<6x5xf32> {jax.result_info = "result[2]"}, tensor<6x5xf32> {jax.result_info = "result[3]"}, tensor<6x5xf32> {jax.result_info = "result[4]"}, tensor<6x5xf32> {jax.result_info = "result[5]"}, tensor<6x5xf32> {jax.result_info = "result[6]"}, tensor<6x5xf32> {jax.result_info = "result[7]"}, tensor<6x5xf32> {jax.result_info = "result[8]"}) {
    %c = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_1 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x2xi1>, tensor<4x2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<6x5xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %8 = stablehlo.compare LT, %arg1, %7, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_3 = stablehlo.constant dense<6> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %10 = stablehlo.add %arg1, %9 : tensor<4x2xi32>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<4x2xi1>, tensor<4x2xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %13 = "stablehlo.scatter"(%arg0, %12, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<6x5xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %15 = stablehlo.compare LT, %arg1, %14, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_5 = stablehlo.constant dense<6> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %17 = stablehlo.add %arg1, %16 : tensor<4x2xi32>
    %18 = stablehlo.select %15, %17, %arg1 : tensor<4x2xi1>, tensor<4x2xi32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %20 = "stablehlo.scatter"(%arg0, %19, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<6x5xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %22 = stablehlo.compare LT, %arg1, %21, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_7 = stablehlo.constant dense<6> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %24 = stablehlo.add %arg1, %23 : tensor<4x2xi32>
    %25 = stablehlo.select %22, %24, %arg1 : tensor<4x2xi1>, tensor<4x2xi32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %c_8 = stablehlo.constant dense<5> : tensor<1xi32>
    %c_9 = stablehlo.constant dense<2147483647> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.minimum %c_8, %27 : tensor<1xi32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [2] : (tensor<1xi32>) -> tensor<4x2x1xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4x2x1xi32>
    %31 = stablehlo.clamp %30, %26, %29 : tensor<4x2x1xi32>
    %32 = "stablehlo.scatter"(%arg0, %31, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.minimum %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<6x5xf32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %34 = stablehlo.compare LT, %arg1, %33, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_12 = stablehlo.constant dense<6> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %36 = stablehlo.add %arg1, %35 : tensor<4x2xi32>
    %37 = stablehlo.select %34, %36, %arg1 : tensor<4x2xi1>, tensor<4x2xi32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x2x5xf32>
    %40 = "stablehlo.scatter"(%arg0, %38, %39) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2x1xi32>, tensor<4x2x5xf32>) -> tensor<6x5xf32>
    %41 = stablehlo.slice %arg1 [0:4, 0:1] : (tensor<4x2xi32>) -> tensor<4x1xi32>
    %42 = stablehlo.reshape %41 : (tensor<4x1xi32>) -> tensor<4xi32>
    %c_13 = stablehlo.constant dense<6> : tensor<i32>
    %43 = call @remainder(%42, %c_13) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %44 = stablehlo.slice %arg1 [0:4, 1:2] : (tensor<4x2xi32>) -> tensor<4x1xi32>
    %45 = stablehlo.reshape %44 : (tensor<4x1xi32>) -> tensor<4xi32>
    %c_14 = stablehlo.constant dense<5> : tensor<i32>
    %46 = call @remainder(%45, %c_14) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %47 = stablehlo.slice %arg2 [0:4, 0:1, 0:1] : (tensor<4x2x5xf32>) -> tensor<4x1x1xf32>
    %48 = stablehlo.reshape %47 : (tensor<4x1x1xf32>) -> tensor<4xf32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %50 = stablehlo.compare LT, %43, %49, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_16 = stablehlo.constant dense<6> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %52 = stablehlo.add %43, %51 : tensor<4xi32>
    %53 = stablehlo.select %50, %52, %43 : tensor<4xi1>, tensor<4xi32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %54 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %55 = stablehlo.compare LT, %46, %54, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_18 = stablehlo.constant dense<5> : tensor<i32>
    %56 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %57 = stablehlo.add %46, %56 : tensor<4xi32>
    %58 = stablehlo.select %55, %57, %46 : tensor<4xi1>, tensor<4xi32>
    %59 = stablehlo.broadcast_in_dim %53, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %60 = stablehlo.broadcast_in_dim %58, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %61 = stablehlo.concatenate %59, %60, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %62 = "stablehlo.scatter"(%arg0, %61, %48) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<6x5xf32>
    %63 = stablehlo.slice %arg2 [0:1, 0:2, 0:5] : (tensor<4x2x5xf32>) -> tensor<1x2x5xf32>
    %64 = stablehlo.reshape %63 : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
    %c_19 = stablehlo.constant dense<0> : tensor<i32>
    %65 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %66 = stablehlo.compare LT, %c, %65, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_20 = stablehlo.constant dense<6> : tensor<i32>
    %67 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %68 = stablehlo.add %c, %67 : tensor<2xi32>
    %69 = stablehlo.select %66, %68, %c : tensor<2xi1>, tensor<2xi32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %71 = "stablehlo.scatter"(%arg0, %70, %64) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<6x5xf32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
    %73 = stablehlo.iota dim = 0 : tensor<3xi32>
    %c_22 = stablehlo.constant dense<2> : tensor<i32>
    %74 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %75 = stablehlo.multiply %74, %73 : tensor<3xi32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %76 = stablehlo.broadcast_in_dim %c_23, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %77 = stablehlo.add %76, %75 : tensor<3xi32>
    %c_24 = stablehlo.constant dense<2> : tensor<i32>
    %78 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %79 = stablehlo.broadcast_in_dim %77, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %80 = stablehlo.concatenate %78, %79, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %82 = "stablehlo.scatter"(%72, %80, %81) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<3x2xi32>, tensor<3x3xf32>) -> tensor<6x5xf32>
    %83 = stablehlo.divide %arg0, %82 : tensor<6x5xf32>
    %c_26 = stablehlo.constant dense<1> : tensor<i32>
    %84 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %87 = "stablehlo.scatter"(%arg0, %84, %86) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %88 = stablehlo.sine %arg3 : tensor<f32>
      stablehlo.return %88 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xi32>, tensor<6xf32>) -> tensor<6x5xf32>
    return %6, %13, %20, %32, %40, %62, %71, %83, %87 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
  }
  func.func private @remainder(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<4xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<4xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<4xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %12 = stablehlo.and %11, %6 : tensor<4xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %14 = stablehlo.add %4, %13 : tensor<4xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<4xi1>, tensor<4xi32>
    return %15 : tensor<4xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
