// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_two_sums_edited attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16x4x128xf8E4M3FN>, %arg1: tensor<64x4x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<32x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x16x4x128xf8E4M3FN>) -> tensor<32x512xf8E4M3FN>
    %1 = stablehlo.reshape %arg1 : (tensor<64x4x128xf8E4M3FN>) -> tensor<64x512xf8E4M3FN>
    %2 = stablehlo.convert %0 : (tensor<32x512xf8E4M3FN>) -> tensor<32x512xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<32x512xf32>
    %5 = stablehlo.convert %1 : (tensor<64x512xf8E4M3FN>) -> tensor<64x512xf32>
    %6 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<64x512xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<64x512xf32>
    %8 = stablehlo.dot_general %4, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512xf32>, tensor<64x512xf32>) -> tensor<32x64xf32>
    return %8 : tensor<32x64xf32>
  }
}
