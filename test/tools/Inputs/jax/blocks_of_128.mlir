// fused: fp8 cublaslt torch-scaled-mm
module @jit_blocks_of_128 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<64x1xf32>, %arg3: tensor<2x1xf32>) -> (tensor<64x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<256x128xf32>) -> tensor<2x128x128xf32>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<2x1x1xf32>) -> tensor<2x128x128xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<2x128x128xf32>
    %5 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x128xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<64x128xf32>
    %8 = stablehlo.reshape %4 : (tensor<2x128x128xf32>) -> tensor<256x128xf32>
    %9 = stablehlo.dot_general %7, %8, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    return %9 : tensor<64x256xf32>
  }
}
