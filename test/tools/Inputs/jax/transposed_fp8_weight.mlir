// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_transposed_fp8_weight attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<64x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xf32>
    %3 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<256x128xf8E4M3FN>) -> tensor<128x256xf8E4M3FN>
    %4 = stablehlo.convert %3 : (tensor<128x256xf8E4M3FN>) -> tensor<128x256xf32>
    %5 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<128x256xf32>
    %7 = stablehlo.dot_general %2, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
    return %7 : tensor<64x256xf32>
  }
}
