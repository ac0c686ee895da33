// fused: fp8 xla-gpu cublaslt
module @jit_amax_of_the_scaled_edited attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>) -> (tensor<64x256xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xf32>
    %3 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<256x128xf32>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %8 = stablehlo.divide %6, %7 : tensor<64x256xf32>
    %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
    %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %9 = call @clip(%8, %cst, %cst_0) : (tensor<64x256xf32>, tensor<f32>, tensor<f32>) -> tensor<64x256xf32>
    %10 = stablehlo.convert %9 : (tensor<64x256xf32>) -> tensor<64x256xf8E4M3FN>
    %11 = stablehlo.abs %6 : tensor<64x256xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<f32>
    return %10, %12 : tensor<64x256xf8E4M3FN>, tensor<f32>
  }
  func.func private @clip(%arg0: tensor<64x256xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<64x256xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<64x256xf32>
    %3 = stablehlo.convert %arg2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<64x256xf32>
    return %5 : tensor<64x256xf32>
  }
}
