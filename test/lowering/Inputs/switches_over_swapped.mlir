module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<3x3xi32>, %arg2: tensor<3x3xi32>) -> (tensor<3x3xi32> {jax.result_info = "result[0]"}, tensor<3x3xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:5 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %arg1, %iterArg_4 = %arg2) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>
    cond {
      %c_5 = stablehlo.constant dense<6> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:3 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3, %iterArg_4) : (tensor<i32>, tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>) -> (tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>)
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_1, %c_5 : tensor<i32>
      stablehlo.return %iterArg, %2, %1#0, %1#1, %1#2 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>
    }
    return %0#3, %0#4 : tensor<3x3xi32>, tensor<3x3xi32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<3x3xi32>, %arg3: tensor<3x3xi32>) -> (tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %2 = stablehlo.add %1, %arg0 : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %3 = call @remainder(%arg1, %c_0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = stablehlo.convert %3 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %5 = stablehlo.clamp %c_1, %4, %c_2 : tensor<i32>
    %6:2 = "stablehlo.case"(%5) ({
      %c_6 = stablehlo.constant dense<2> : tensor<i32>
      %10 = func.call @remainder(%arg1, %c_6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.compare EQ, %10, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.convert %11 : (tensor<i1>) -> tensor<i32>
      %13 = "stablehlo.case"(%12) ({
        %c_10 = stablehlo.constant dense<3> : tensor<i32>
        %18 = func.call @remainder(%arg1, %c_10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %19 = stablehlo.slice %arg3 [0:1, 0:3] : (tensor<3x3xi32>) -> tensor<1x3xi32>
        %20 = stablehlo.reshape %19 : (tensor<1x3xi32>) -> tensor<3xi32>
        %c_11 = stablehlo.constant dense<0> : tensor<i32>
        %21 = stablehlo.compare LT, %18, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %22 = stablehlo.add %18, %c_12 : tensor<i32>
        %23 = stablehlo.select %21, %22, %18 : tensor<i1>, tensor<i32>
        %24 = stablehlo.convert %23 : tensor<i32>
        %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<i32>) -> tensor<1xi32>
        %26 = "stablehlo.scatter"(%arg3, %25, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
        ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
          %27 = stablehlo.add %arg4, %arg5 : tensor<i32>
          stablehlo.return %27 : tensor<i32>
        }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
        stablehlo.return %26 : tensor<3x3xi32>
      }, {
        stablehlo.return %arg3 : tensor<3x3xi32>
      }) : (tensor<i32>) -> tensor<3x3xi32>
      %c_8 = stablehlo.constant dense<2> : tensor<i32>
      %14 = func.call @remainder(%arg1, %c_8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.compare EQ, %14, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %16 = stablehlo.convert %15 : (tensor<i1>) -> tensor<i32>
      %17 = "stablehlo.case"(%16) ({
        %c_10 = stablehlo.constant dense<3> : tensor<i32>
        %18 = func.call @remainder(%arg1, %c_10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %19 = stablehlo.slice %arg2 [0:1, 0:3] : (tensor<3x3xi32>) -> tensor<1x3xi32>
        %20 = stablehlo.reshape %19 : (tensor<1x3xi32>) -> tensor<3xi32>
        %c_11 = stablehlo.constant dense<0> : tensor<i32>
        %21 = stablehlo.compare LT, %18, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %22 = stablehlo.add %18, %c_12 : tensor<i32>
        %23 = stablehlo.select %21, %22, %18 : tensor<i1>, tensor<i32>
        %24 = stablehlo.convert %23 : tensor<i32>
        %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<i32>) -> tensor<1xi32>
        %26 = "stablehlo.scatter"(%arg2, %25, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
        ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
          %27 = stablehlo.add %arg4, %arg5 : tensor<i32>
          stablehlo.return %27 : tensor<i32>
        }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
        stablehlo.return %26 : tensor<3x3xi32>
      }, {
        stablehlo.return %arg2 : tensor<3x3xi32>
      }) : (tensor<i32>) -> tensor<3x3xi32>
      stablehlo.return %13, %17 : tensor<3x3xi32>, tensor<3x3xi32>
    }, {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = "stablehlo.scatter"(%10, %11, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %14 = stablehlo.add %arg4, %arg5 : tensor<i32>
        stablehlo.return %14 : tensor<i32>
      }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
      stablehlo.return %10, %13 : tensor<3x3xi32>, tensor<3x3xi32>
    }, {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = "stablehlo.scatter"(%10, %11, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %14 = stablehlo.add %arg4, %arg5 : tensor<i32>
        stablehlo.return %14 : tensor<i32>
      }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
      stablehlo.return %10, %13 : tensor<3x3xi32>, tensor<3x3xi32>
    }) : (tensor<i32>) -> (tensor<3x3xi32>, tensor<3x3xi32>)
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %7 = call @remainder_0(%2, %c_3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %c_5 = stablehlo.constant dense<2> : tensor<i32>
    %8 = stablehlo.clamp %c_4, %7, %c_5 : tensor<i32>
    %9:2 = "stablehlo.case"(%8) ({
      %c_6 = stablehlo.constant dense<2> : tensor<i32>
      %10 = func.call @remainder_0(%2, %c_6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.compare EQ, %10, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.convert %11 : (tensor<i1>) -> tensor<i32>
      %13 = "stablehlo.case"(%12) ({
        %c_10 = stablehlo.constant dense<3> : tensor<i32>
        %18 = func.call @remainder_0(%2, %c_10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %19 = stablehlo.slice %6#1 [0:1, 0:3] : (tensor<3x3xi32>) -> tensor<1x3xi32>
        %20 = stablehlo.reshape %19 : (tensor<1x3xi32>) -> tensor<3xi32>
        %c_11 = stablehlo.constant dense<0> : tensor<i32>
        %21 = stablehlo.compare LT, %18, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %22 = stablehlo.add %18, %c_12 : tensor<i32>
        %23 = stablehlo.select %21, %22, %18 : tensor<i1>, tensor<i32>
        %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<i32>) -> tensor<1xi32>
        %25 = "stablehlo.scatter"(%6#1, %24, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
        ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
          %26 = stablehlo.add %arg4, %arg5 : tensor<i32>
          stablehlo.return %26 : tensor<i32>
        }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
        stablehlo.return %25 : tensor<3x3xi32>
      }, {
        stablehlo.return %6#1 : tensor<3x3xi32>
      }) : (tensor<i32>) -> tensor<3x3xi32>
      %c_8 = stablehlo.constant dense<2> : tensor<i32>
      %14 = func.call @remainder_0(%2, %c_8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.compare EQ, %14, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %16 = stablehlo.convert %15 : (tensor<i1>) -> tensor<i32>
      %17 = "stablehlo.case"(%16) ({
        %c_10 = stablehlo.constant dense<3> : tensor<i32>
        %18 = func.call @remainder_0(%2, %c_10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %19 = stablehlo.slice %6#0 [0:1, 0:3] : (tensor<3x3xi32>) -> tensor<1x3xi32>
        %20 = stablehlo.reshape %19 : (tensor<1x3xi32>) -> tensor<3xi32>
        %c_11 = stablehlo.constant dense<0> : tensor<i32>
        %21 = stablehlo.compare LT, %18, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %22 = stablehlo.add %18, %c_12 : tensor<i32>
        %23 = stablehlo.select %21, %22, %18 : tensor<i1>, tensor<i32>
        %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<i32>) -> tensor<1xi32>
        %25 = "stablehlo.scatter"(%6#0, %24, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
        ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
          %26 = stablehlo.add %arg4, %arg5 : tensor<i32>
          stablehlo.return %26 : tensor<i32>
        }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
        stablehlo.return %25 : tensor<3x3xi32>
      }, {
        stablehlo.return %6#0 : tensor<3x3xi32>
      }) : (tensor<i32>) -> tensor<3x3xi32>
      stablehlo.return %13, %17 : tensor<3x3xi32>, tensor<3x3xi32>
    }, {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = "stablehlo.scatter"(%10, %11, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %14 = stablehlo.add %arg4, %arg5 : tensor<i32>
        stablehlo.return %14 : tensor<i32>
      }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
      stablehlo.return %10, %13 : tensor<3x3xi32>, tensor<3x3xi32>
    }, {
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<3xi32>
      %13 = "stablehlo.scatter"(%10, %11, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %14 = stablehlo.add %arg4, %arg5 : tensor<i32>
        stablehlo.return %14 : tensor<i32>
      }) : (tensor<3x3xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x3xi32>
      stablehlo.return %10, %13 : tensor<3x3xi32>, tensor<3x3xi32>
    }) : (tensor<i32>) -> (tensor<3x3xi32>, tensor<3x3xi32>)
    return %0, %9#0, %9#1 : tensor<i32>, tensor<3x3xi32>, tensor<3x3xi32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = call @_where(%0, %c_0, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %2, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder_0(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_1(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
