// fused: fp8
module @jit_experts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x16x128xf8E4M3FN>, %arg1: tensor<4x128x256xf8E4M3FN>, %arg2: tensor<4x1x1xf32>, %arg3: tensor<4x1x1xf32>) -> (tensor<4x16x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x16x128xf8E4M3FN>) -> tensor<4x16x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x16x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x16x128xf32>
    %3 = stablehlo.convert %arg1 : (tensor<4x128x256xf8E4M3FN>) -> tensor<4x128x256xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x128x256xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<4x128x256xf32>
    %6 = stablehlo.dot_general %2, %5, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16x128xf32>, tensor<4x128x256xf32>) -> tensor<4x16x256xf32>
    return %6 : tensor<4x16x256xf32>
  }
}
