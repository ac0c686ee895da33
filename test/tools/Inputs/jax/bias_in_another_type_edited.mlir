// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_bias_in_another_type_edited attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<256xbf16>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xf32>
    %3 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<256x128xf32>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    %7 = stablehlo.convert %arg4 : (tensor<256xbf16>) -> tensor<256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<256xf32>) -> tensor<1x256xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<64x256xf32>
    %10 = stablehlo.add %6, %9 : tensor<64x256xf32>
    %11 = stablehlo.convert %10 : (tensor<64x256xf32>) -> tensor<64x256xbf16>
    return %11 : tensor<64x256xbf16>
  }
}
