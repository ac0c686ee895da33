module @jit_narrow_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x6x2xf8E5M2>, %arg1: tensor<1x6x6x2xbf16>) -> (tensor<1x3x3x2xf8E5M2> {jax.result_info = "result[0]"}, tensor<1x6x6x2xbf16> {jax.result_info = "result[1]"}, tensor<1x3x3x2xbf16> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0xFC> : tensor<f8E5M2>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f8E5M2>) -> tensor<f8E5M2>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<f8E5M2>, %arg3: tensor<f8E5M2>):
      %18 = stablehlo.maximum %arg2, %arg3 : tensor<f8E5M2>
      stablehlo.return %18 : tensor<f8E5M2>
    }) : (tensor<1x6x6x2xf8E5M2>, tensor<f8E5M2>) -> tensor<1x3x3x2xf8E5M2>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<bf16>
    %3 = "stablehlo.reduce_window"(%arg1, %2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %18 = stablehlo.maximum %arg2, %arg3 : tensor<bf16>
      stablehlo.return %18 : tensor<bf16>
    }) : (tensor<1x6x6x2xbf16>, tensor<bf16>) -> tensor<1x3x3x2xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<1x3x3x2xbf16>
    %5 = stablehlo.multiply %3, %4 : tensor<1x3x3x2xbf16>
    %6 = stablehlo.convert %5 : (tensor<1x3x3x2xbf16>) -> tensor<1x3x3x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<f32>
    %8 = stablehlo.convert %7 : (tensor<f32>) -> tensor<bf16>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %10 = stablehlo.convert %9 : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xbf16>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<1x3x3x2xbf16>
    %12 = stablehlo.multiply %10, %11 : tensor<1x3x3x2xbf16>
    %cst_5 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %13 = stablehlo.pad %arg1, %cst_5, low = [0, 0, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x6x6x2xbf16>, tensor<bf16>) -> tensor<1x7x7x2xbf16>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %14 = "stablehlo.select_and_scatter"(%13, %12, %cst_6) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %18 = stablehlo.compare GE, %arg2, %arg3, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %18 = stablehlo.add %arg2, %arg3 : tensor<bf16>
      stablehlo.return %18 : tensor<bf16>
    }) : (tensor<1x7x7x2xbf16>, tensor<1x3x3x2xbf16>, tensor<bf16>) -> tensor<1x7x7x2xbf16>
    %15 = stablehlo.slice %14 [0:1, 0:6, 0:6, 0:2] : (tensor<1x7x7x2xbf16>) -> tensor<1x6x6x2xbf16>
    %cst_7 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %16 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<bf16>
    %17 = "stablehlo.reduce_window"(%arg1, %16) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %18 = stablehlo.maximum %arg2, %arg3 : tensor<bf16>
      stablehlo.return %18 : tensor<bf16>
    }) : (tensor<1x6x6x2xbf16>, tensor<bf16>) -> tensor<1x3x3x2xbf16>
    return %1, %15, %17 : tensor<1x3x3x2xf8E5M2>, tensor<1x6x6x2xbf16>, tensor<1x3x3x2xbf16>
  }
}
