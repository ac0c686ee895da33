// fused: fp8
module @jit_two_sums attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16x4x128xf8E4M3FN>, %arg1: tensor<64x4x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<2x16x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<2x16x4x128xf8E4M3FN>) -> tensor<2x16x4x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x16x4x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x16x4x128xf32>
    %3 = stablehlo.convert %arg1 : (tensor<64x4x128xf8E4M3FN>) -> tensor<64x4x128xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<64x4x128xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<64x4x128xf32>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [3, 2] x [2, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x16x4x128xf32>, tensor<64x4x128xf32>) -> tensor<2x16x64xf32>
    return %6 : tensor<2x16x64xf32>
  }
}
