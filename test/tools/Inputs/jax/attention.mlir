// fused: fp8 xla-gpu cublaslt
module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x32x8x64xf8E4M3FN>, %arg1: tensor<2x32x8x64xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<2x8x32x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<2x32x8x64xf8E4M3FN>) -> tensor<2x32x8x64xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x32x8x64xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x32x8x64xf32>
    %3 = stablehlo.convert %arg1 : (tensor<2x32x8x64xf8E4M3FN>) -> tensor<2x32x8x64xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x32x8x64xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x32x8x64xf32>
    %6 = stablehlo.dot_general %2, %5, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x8x64xf32>, tensor<2x32x8x64xf32>) -> tensor<2x8x32x32xf32>
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x32x32xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<2x8x32x32xf32>
    return %8 : tensor<2x8x32x32xf32>
  }
}
