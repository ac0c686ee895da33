// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_masked_edited attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<64x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<64xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %c = stablehlo.constant dense<40> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x1xi32>
    %3 = stablehlo.compare LT, %1, %2, SIGNED : (tensor<64x1xi32>, tensor<64x1xi32>) -> tensor<64x1xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
    %4 = call @_where(%3, %arg0, %cst) : (tensor<64x1xi1>, tensor<64x128xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<64x128xf8E4M3FN>
    %5 = stablehlo.convert %4 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<64x128xf32>
    %8 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<256x128xf32>
    %11 = stablehlo.dot_general %7, %10, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    return %11 : tensor<64x256xf32>
  }
  func.func private @_where(%arg0: tensor<64x1xi1>, %arg1: tensor<64x128xf8E4M3FN>, %arg2: tensor<f8E4M3FN>) -> tensor<64x128xf8E4M3FN> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<64x1xi1>) -> tensor<64x128xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f8E4M3FN>) -> tensor<64x128xf8E4M3FN>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<64x128xi1>, tensor<64x128xf8E4M3FN>
    return %2 : tensor<64x128xf8E4M3FN>
  }
}
