// fused: fp8 xla-gpu
module @jit_convolution attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16x16x32xf8E4M3FN>, %arg1: tensor<3x3x32x64xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<8x16x16x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8x16x16x32xf8E4M3FN>) -> tensor<8x16x16x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<8x16x16x32xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<8x16x16x32xf32>
    %3 = stablehlo.convert %arg1 : (tensor<3x3x32x64xf8E4M3FN>) -> tensor<3x3x32x64xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<3x3x32x64xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<3x3x32x64xf32>
    %6 = stablehlo.convolution(%2, %5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x16x16x64xf32>
    return %6 : tensor<8x16x16x64xf32>
  }
}
