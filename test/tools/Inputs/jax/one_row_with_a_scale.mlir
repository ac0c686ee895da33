// fused: fp8 torch-scaled-mm
module @jit_one_row_with_a_scale attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<1x1xf32>, %arg3: tensor<1x256xf32>) -> (tensor<1x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x128xf8E4M3FN>, tensor<256x128xf8E4M3FN>) -> tensor<1x256xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x256xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x256xf32>
    %3 = stablehlo.multiply %2, %arg3 : tensor<1x256xf32>
    %4 = stablehlo.convert %3 : (tensor<1x256xf32>) -> tensor<1x256xbf16>
    return %4 : tensor<1x256xbf16>
  }
}
