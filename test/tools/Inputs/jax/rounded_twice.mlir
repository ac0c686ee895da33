// fused:
module @jit_rounded_twice attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xf32>
    %3 = stablehlo.convert %2 : (tensor<64x128xf32>) -> tensor<64x128xbf16>
    %4 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %5 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<256x128xf32>
    %7 = stablehlo.convert %6 : (tensor<256x128xf32>) -> tensor<256x128xbf16>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<256x128xbf16>) -> tensor<64x256xbf16>
    return %8 : tensor<64x256xbf16>
  }
}
