// fused: fp8
module @jit_mx attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<64x4xf8E8M0FNU>, %arg3: tensor<256x4xf8E8M0FNU>) -> (tensor<64x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.convert %arg2 : (tensor<64x4xf8E8M0FNU>) -> tensor<64x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<64x4xf32>) -> tensor<64x4x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<64x4x32xf32>) -> tensor<64x128xf32>
    %4 = stablehlo.multiply %0, %3 : tensor<64x128xf32>
    %5 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %6 = stablehlo.convert %arg3 : (tensor<256x4xf8E8M0FNU>) -> tensor<256x4xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<256x4xf32>) -> tensor<256x4x32xf32>
    %8 = stablehlo.reshape %7 : (tensor<256x4x32xf32>) -> tensor<256x128xf32>
    %9 = stablehlo.multiply %5, %8 : tensor<256x128xf32>
    %10 = stablehlo.dot_general %4, %9, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    return %10 : tensor<64x256xf32>
  }
}
