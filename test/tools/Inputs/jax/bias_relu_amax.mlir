// fused: fp8 cublaslt
module @jit_bias_relu_amax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<256xbf16>, %arg5: tensor<f32>) -> (tensor<64x256xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<bf16> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
    %1 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %3 = stablehlo.multiply %0, %2 : tensor<64x128xbf16>
    %4 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xbf16>
    %5 = stablehlo.convert %arg3 : (tensor<f32>) -> tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<bf16>) -> tensor<256x128xbf16>
    %7 = stablehlo.multiply %4, %6 : tensor<256x128xbf16>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<256x128xbf16>) -> tensor<64x256xbf16>
    %9 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<256xbf16>) -> tensor<1x256xbf16>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x256xbf16>) -> tensor<64x256xbf16>
    %11 = stablehlo.add %8, %10 : tensor<64x256xbf16>
    %12 = call @relu(%11) : (tensor<64x256xbf16>) -> tensor<64x256xbf16>
    %13 = stablehlo.convert %arg5 : (tensor<f32>) -> tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %15 = stablehlo.divide %12, %14 : tensor<64x256xbf16>
    %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
    %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %16 = call @clip(%15, %cst, %cst_0) : (tensor<64x256xbf16>, tensor<f32>, tensor<f32>) -> tensor<64x256xbf16>
    %17 = stablehlo.convert %16 : (tensor<64x256xbf16>) -> tensor<64x256xf8E4M3FN>
    %18 = stablehlo.abs %12 : tensor<64x256xbf16>
    %cst_1 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %19 = stablehlo.reduce(%18 init: %cst_1) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x256xbf16>, tensor<bf16>) -> tensor<bf16>
    return %17, %19 : tensor<64x256xf8E4M3FN>, tensor<bf16>
  }
  func.func private @relu(%arg0: tensor<64x256xbf16>) -> tensor<64x256xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x256xbf16>
    return %1 : tensor<64x256xbf16>
  }
  func.func private @clip(%arg0: tensor<64x256xbf16>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<64x256xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<64x256xbf16>
    %3 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %5 = stablehlo.minimum %4, %2 : tensor<64x256xbf16>
    return %5 : tensor<64x256xbf16>
  }
}
