module @jit_associative_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x9xf32>) -> (tensor<4x9xf32> {jax.result_info = "result[0]"}, tensor<4x9xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x9xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %arg0, %iterArg_6 = %c, %iterArg_7 = %0) : tensor<4x9xf32>, tensor<i32>, tensor<4x9xf32>
    cond {
      %c_8 = stablehlo.constant dense<4> : tensor<i32>
      %34 = stablehlo.compare LT, %iterArg_6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %34 : tensor<i1>
    } do {
      %34 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_6) : (tensor<4x9xf32>, tensor<i32>) -> tensor<9xf32>
      %35 = func.call @closed_call(%34) : (tensor<9xf32>) -> tensor<9xf32>
      %36 = func.call @dynamic_update_index_in_dim(%iterArg_7, %35, %iterArg_6) : (tensor<4x9xf32>, tensor<9xf32>, tensor<i32>) -> tensor<4x9xf32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %37 = stablehlo.add %iterArg_6, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %37, %36 : tensor<4x9xf32>, tensor<i32>, tensor<4x9xf32>
    }
    %2 = stablehlo.slice %arg0 [0:4, 0:8:2] : (tensor<4x9xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.slice %arg0 [0:4, 1:9:2] : (tensor<4x9xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.maximum %2, %3 : tensor<4x4xf32>
    %5 = stablehlo.slice %4 [0:4, 0:3:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.slice %4 [0:4, 1:4:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %7 = stablehlo.maximum %5, %6 : tensor<4x2xf32>
    %8 = stablehlo.slice %7 [0:4, 0:1:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.slice %7 [0:4, 1:2:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %10 = stablehlo.maximum %8, %9 : tensor<4x1xf32>
    %11 = stablehlo.slice %10 [0:4, 0:0] : (tensor<4x1xf32>) -> tensor<4x0xf32>
    %12 = stablehlo.slice %7 [0:4, 2:2:2] : (tensor<4x2xf32>) -> tensor<4x0xf32>
    %13 = stablehlo.maximum %11, %12 : tensor<4x0xf32>
    %14 = stablehlo.slice %7 [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %15 = stablehlo.concatenate %14, %13, dim = 1 : (tensor<4x1xf32>, tensor<4x0xf32>) -> tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %15, %cst_0, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.pad %10, %cst_1, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x2xf32>
    %18 = stablehlo.add %16, %17 : tensor<4x2xf32>
    %19 = stablehlo.slice %18 [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %20 = stablehlo.slice %4 [0:4, 2:4:2] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %21 = stablehlo.maximum %19, %20 : tensor<4x1xf32>
    %22 = stablehlo.slice %4 [0:4, 0:1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %23 = stablehlo.concatenate %22, %21, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.pad %23, %cst_2, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.pad %18, %cst_3, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
    %26 = stablehlo.add %24, %25 : tensor<4x4xf32>
    %27 = stablehlo.slice %arg0 [0:4, 2:9:2] : (tensor<4x9xf32>) -> tensor<4x4xf32>
    %28 = stablehlo.maximum %26, %27 : tensor<4x4xf32>
    %29 = stablehlo.slice %arg0 [0:4, 0:1] : (tensor<4x9xf32>) -> tensor<4x1xf32>
    %30 = stablehlo.concatenate %29, %28, dim = 1 : (tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<4x5xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.pad %30, %cst_4, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x9xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.pad %26, %cst_5, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x9xf32>
    %33 = stablehlo.add %31, %32 : tensor<4x9xf32>
    return %33, %1#2 : tensor<4x9xf32>, tensor<4x9xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x9xf32>, %arg1: tensor<i32>) -> tensor<9xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 9] : (tensor<4x9xf32>, tensor<i32>, tensor<i32>) -> tensor<1x9xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x9xf32>) -> tensor<9xf32>
    return %1 : tensor<9xf32>
  }
  func.func private @closed_call(%arg0: tensor<9xf32>) -> tensor<9xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.compare GT, %0, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.negate %arg0 : tensor<9xf32>
    %3 = call @_where(%1, %arg0, %2) : (tensor<i1>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    return %3 : tensor<9xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<9xf32>, %arg2: tensor<9xf32>) -> tensor<9xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<9xf32>
    return %0 : tensor<9xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x9xf32>, %arg1: tensor<9xf32>, %arg2: tensor<i32>) -> tensor<4x9xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x9xf32>, tensor<1x9xf32>, tensor<i32>, tensor<i32>) -> tensor<4x9xf32>
    return %1 : tensor<4x9xf32>
  }
}
