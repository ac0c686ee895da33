// fused:
module @jit_masked attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<64x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<64xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %c = stablehlo.constant dense<40> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x1xi32>
    %3 = stablehlo.compare LT, %1, %2, SIGNED : (tensor<64x1xi32>, tensor<64x1xi32>) -> tensor<64x1xi1>
    %4 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %5 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<64x128xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %7 = call @_where(%3, %6, %c_0) : (tensor<64x1xi1>, tensor<64x128xf32>, tensor<i32>) -> tensor<64x128xf32>
    %8 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<256x128xf32>
    %11 = stablehlo.dot_general %7, %10, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    return %11 : tensor<64x256xf32>
  }
  func.func private @_where(%arg0: tensor<64x1xi1>, %arg1: tensor<64x128xf32>, %arg2: tensor<i32>) -> tensor<64x128xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<64x1xi1>) -> tensor<64x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<64x128xi1>, tensor<64x128xf32>
    return %3 : tensor<64x128xf32>
  }
}
