module @jit_searchsorted attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> (tensor<3x9xi32> {jax.result_info = "result[0]"}, tensor<3x9xi32> {jax.result_info = "result[1]"}) {
    %0 = call @searchsorted(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    %1 = call @searchsorted_2(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    return %0, %1 : tensor<3x9xi32>, tensor<3x9xi32>
  }
  func.func private @searchsorted(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %0 = call @_searchsorted_scan_impl(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    return %0 : tensor<3x9xi32>
  }
  func.func private @_searchsorted_scan_impl(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %0 = call @_searchsorted_scan_impl_0(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    return %0 : tensor<3x9xi32>
  }
  func.func private @_searchsorted_scan_impl_0(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %0 = call @_searchsorted_scan_impl_1(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    return %0 : tensor<3x9xi32>
  }
  func.func private @_searchsorted_scan_impl_1(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<9xui32>
    %c_0 = stablehlo.constant dense<40> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<9xui32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<9xui32>) -> tensor<3x9xui32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<9xui32>) -> tensor<3x9xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %2, %iterArg_5 = %3) : tensor<40xf32>, tensor<3x9xf32>, tensor<i32>, tensor<3x9xui32>, tensor<3x9xui32>
    cond {
      %c_6 = stablehlo.constant dense<6> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_4, %iterArg_5) : (tensor<40xf32>, tensor<3x9xf32>, tensor<3x9xui32>, tensor<3x9xui32>) -> (tensor<3x9xui32>, tensor<3x9xui32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %7, %6#0, %6#1 : tensor<40xf32>, tensor<3x9xf32>, tensor<i32>, tensor<3x9xui32>, tensor<3x9xui32>
    }
    %5 = stablehlo.convert %4#4 : (tensor<3x9xui32>) -> tensor<3x9xi32>
    return %5 : tensor<3x9xi32>
  }
  func.func private @closed_call(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>, %arg2: tensor<3x9xui32>, %arg3: tensor<3x9xui32>) -> (tensor<3x9xui32>, tensor<3x9xui32>) {
    %0 = stablehlo.subtract %arg3, %arg2 : tensor<3x9xui32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %1 = call @floor_divide(%0, %c) : (tensor<3x9xui32>, tensor<i32>) -> tensor<3x9xui32>
    %2 = stablehlo.add %arg2, %1 : tensor<3x9xui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<3x9xui32>) -> tensor<3x9x1xui32>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<3x9x1xui32>) -> tensor<3x9x1xf32>
    %5 = stablehlo.reshape %4 : (tensor<3x9x1xf32>) -> tensor<3x9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %7 = stablehlo.compare EQ, %arg1, %6, FLOAT : (tensor<3x9xf32>, tensor<3x9xf32>) -> tensor<3x9xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<9xf32>) -> tensor<3x9xf32>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<3x9xi1>, tensor<3x9xf32>
    %11 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<3x9xf32>, tensor<3x9xf32>) -> tensor<3x9xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<9xf32>) -> tensor<3x9xf32>
    %14 = stablehlo.select %11, %13, %10 : tensor<3x9xi1>, tensor<3x9xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %16 = stablehlo.compare EQ, %5, %15, FLOAT : (tensor<3x9xf32>, tensor<3x9xf32>) -> tensor<3x9xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<9xf32>) -> tensor<3x9xf32>
    %19 = stablehlo.select %16, %18, %5 : tensor<3x9xi1>, tensor<3x9xf32>
    %20 = stablehlo.compare NE, %5, %5, FLOAT : (tensor<3x9xf32>, tensor<3x9xf32>) -> tensor<3x9xi1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [1] : (tensor<9xf32>) -> tensor<3x9xf32>
    %23 = stablehlo.select %20, %22, %19 : tensor<3x9xi1>, tensor<3x9xf32>
    %24 = stablehlo.compare LE, %14, %23, TOTALORDER : (tensor<3x9xf32>, tensor<3x9xf32>) -> tensor<3x9xi1>
    %25 = stablehlo.select %24, %arg2, %2 : tensor<3x9xi1>, tensor<3x9xui32>
    %26 = stablehlo.select %24, %2, %arg3 : tensor<3x9xi1>, tensor<3x9xui32>
    return %25, %26 : tensor<3x9xui32>, tensor<3x9xui32>
  }
  func.func private @floor_divide(%arg0: tensor<3x9xui32>, %arg1: tensor<i32>) -> tensor<3x9xui32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<3x9xui32>
    %2 = stablehlo.divide %arg0, %1 : tensor<3x9xui32>
    return %2 : tensor<3x9xui32>
  }
  func.func private @searchsorted_2(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %0 = call @_searchsorted_sort_impl(%arg0, %arg1) : (tensor<40xf32>, tensor<3x9xf32>) -> tensor<3x9xi32>
    return %0 : tensor<3x9xi32>
  }
  func.func private @_searchsorted_sort_impl(%arg0: tensor<40xf32>, %arg1: tensor<3x9xf32>) -> tensor<3x9xi32> {
    %0 = stablehlo.reshape %arg1 : (tensor<3x9xf32>) -> tensor<27xf32>
    %1 = stablehlo.concatenate %arg0, %0, dim = 0 : (tensor<40xf32>, tensor<27xf32>) -> tensor<67xf32>
    %2 = stablehlo.iota dim = 0 : tensor<67xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<67xi32>
    %4:2 = "stablehlo.sort"(%1, %2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.compare EQ, %arg2, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.select %26, %cst_5, %arg2 : tensor<i1>, tensor<f32>
      %28 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %29 = stablehlo.select %28, %cst_6, %27 : tensor<i1>, tensor<f32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30 = stablehlo.compare EQ, %arg3, %cst_7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %31 = stablehlo.select %30, %cst_8, %arg3 : tensor<i1>, tensor<f32>
      %32 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_9 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %33 = stablehlo.select %32, %cst_9, %31 : tensor<i1>, tensor<f32>
      %34 = stablehlo.compare LT, %29, %33, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %34 : tensor<i1>
    }) : (tensor<67xf32>, tensor<67xi32>) -> (tensor<67xf32>, tensor<67xi32>)
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<67xi32>
    %6 = stablehlo.compare LT, %4#1, %5, SIGNED : (tensor<67xi32>, tensor<67xi32>) -> tensor<67xi1>
    %c_1 = stablehlo.constant dense<67> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<67xi32>
    %8 = stablehlo.add %4#1, %7 : tensor<67xi32>
    %9 = stablehlo.select %6, %8, %4#1 : tensor<67xi1>, tensor<67xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<67xi32>) -> tensor<67x1xi32>
    %11 = "stablehlo.scatter"(%3, %10, %2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      stablehlo.return %arg3 : tensor<i32>
    }) : (tensor<67xi32>, tensor<67x1xi32>, tensor<67xi32>) -> tensor<67xi32>
    %12 = stablehlo.slice %11 [40:67] : (tensor<67xi32>) -> tensor<27xi32>
    %13 = stablehlo.reshape %arg1 : (tensor<3x9xf32>) -> tensor<27xf32>
    %14 = stablehlo.iota dim = 0 : tensor<27xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<27xi32>
    %16:2 = "stablehlo.sort"(%13, %14) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.compare EQ, %arg2, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %27 = stablehlo.select %26, %cst_5, %arg2 : tensor<i1>, tensor<f32>
      %28 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_6 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %29 = stablehlo.select %28, %cst_6, %27 : tensor<i1>, tensor<f32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %30 = stablehlo.compare EQ, %arg3, %cst_7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %31 = stablehlo.select %30, %cst_8, %arg3 : tensor<i1>, tensor<f32>
      %32 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_9 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %33 = stablehlo.select %32, %cst_9, %31 : tensor<i1>, tensor<f32>
      %34 = stablehlo.compare LT, %29, %33, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %34 : tensor<i1>
    }) : (tensor<27xf32>, tensor<27xi32>) -> (tensor<27xf32>, tensor<27xi32>)
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<27xi32>
    %18 = stablehlo.compare LT, %16#1, %17, SIGNED : (tensor<27xi32>, tensor<27xi32>) -> tensor<27xi1>
    %c_4 = stablehlo.constant dense<27> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<27xi32>
    %20 = stablehlo.add %16#1, %19 : tensor<27xi32>
    %21 = stablehlo.select %18, %20, %16#1 : tensor<27xi1>, tensor<27xi32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<27xi32>) -> tensor<27x1xi32>
    %23 = "stablehlo.scatter"(%15, %22, %14) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      stablehlo.return %arg3 : tensor<i32>
    }) : (tensor<27xi32>, tensor<27x1xi32>, tensor<27xi32>) -> tensor<27xi32>
    %24 = stablehlo.subtract %12, %23 : tensor<27xi32>
    %25 = stablehlo.reshape %24 : (tensor<27xi32>) -> tensor<3x9xi32>
    return %25 : tensor<3x9xi32>
  }
}
