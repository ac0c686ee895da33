module @jit_gradient_of_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:6 = stablehlo.while(%iterArg = %arg0, %iterArg_10 = %arg1, %iterArg_11 = %c, %iterArg_12 = %cst, %iterArg_13 = %0, %iterArg_14 = %1) : tensor<8x3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
    cond {
      %c_15 = stablehlo.constant dense<8> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_11, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_11) : (tensor<8x3xf32>, tensor<i32>) -> tensor<3xf32>
      %15:3 = func.call @closed_call(%iterArg_10, %iterArg_12, %14) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_13, %15#1, %iterArg_11) : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_14, %15#2, %iterArg_11) : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_11, %c_15 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %18, %15#0, %16, %17 : tensor<8x3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
    }
    %3 = stablehlo.subtract %2#4, %arg2 : tensor<8xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %6 = stablehlo.multiply %5, %3 : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %13:6 = stablehlo.while(%iterArg = %11, %iterArg_10 = %arg0, %iterArg_11 = %2#5, %iterArg_12 = %c_9, %iterArg_13 = %12, %iterArg_14 = %cst_8) : tensor<8xf32>, tensor<8x3xf32>, tensor<8xf32>, tensor<i32>, tensor<3xf32>, tensor<f32>
    cond {
      %c_15 = stablehlo.constant dense<8> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_12, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %c_15 = stablehlo.constant dense<8> : tensor<i32>
      %14 = stablehlo.subtract %c_15, %iterArg_12 : tensor<i32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.subtract %14, %c_16 : tensor<i32>
      %16 = func.call @dynamic_index_in_dim_0(%iterArg, %15) : (tensor<8xf32>, tensor<i32>) -> tensor<f32>
      %17 = func.call @dynamic_index_in_dim(%iterArg_10, %15) : (tensor<8x3xf32>, tensor<i32>) -> tensor<3xf32>
      %18 = func.call @dynamic_index_in_dim_0(%iterArg_11, %15) : (tensor<8xf32>, tensor<i32>) -> tensor<f32>
      %19:2 = func.call @closed_call_1(%iterArg_13, %iterArg_14, %16, %17, %18) : (tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_12, %c_17 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %20, %19#0, %19#1 : tensor<8xf32>, tensor<8x3xf32>, tensor<8xf32>, tensor<i32>, tensor<3xf32>, tensor<f32>
    }
    return %8, %13#4 : tensor<f32>, tensor<3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<3xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.multiply %arg1, %cst : tensor<f32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
    %2 = stablehlo.add %0, %1 : tensor<f32>
    %3 = stablehlo.sine %2 : tensor<f32>
    %4 = stablehlo.cosine %2 : tensor<f32>
    return %3, %3, %4 : tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @closed_call_1(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<3xf32>, %arg4: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
    %0 = stablehlo.add %arg1, %arg2 : tensor<f32>
    %1 = stablehlo.multiply %0, %arg4 : tensor<f32>
    %2 = stablehlo.dot_general %1, %arg3, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<3xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.multiply %1, %cst : tensor<f32>
    return %3, %4 : tensor<3xf32>, tensor<f32>
  }
}
