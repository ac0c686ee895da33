// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_rounded_twice_edited attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<bf16>, %arg3: tensor<bf16>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xbf16>
    %3 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xbf16>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<bf16>) -> tensor<256x128xbf16>
    %5 = stablehlo.multiply %3, %4 : tensor<256x128xbf16>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<256x128xbf16>) -> tensor<64x256xbf16>
    return %6 : tensor<64x256xbf16>
  }
}
