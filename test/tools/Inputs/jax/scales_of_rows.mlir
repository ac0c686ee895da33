// fused: fp8 cublaslt torch-scaled-mm
module @jit_scales_of_rows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<64x1xf32>, %arg3: tensor<1x256xf32>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf8E4M3FN>, tensor<256x128xf8E4M3FN>) -> tensor<64x256xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x256xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x256xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<64x256xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<64x256xf32>
    %5 = stablehlo.convert %4 : (tensor<64x256xf32>) -> tensor<64x256xbf16>
    return %5 : tensor<64x256xbf16>
  }
}
