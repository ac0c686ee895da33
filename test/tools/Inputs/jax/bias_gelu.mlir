// fused: fp8 xla-gpu cublaslt
module @jit_bias_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<bf16>, %arg3: tensor<bf16>, %arg4: tensor<256xbf16>, %arg5: tensor<bf16>) -> (tensor<64x256xf8E4M3FN> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xbf16>
    %3 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xbf16>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<bf16>) -> tensor<256x128xbf16>
    %5 = stablehlo.multiply %3, %4 : tensor<256x128xbf16>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<256x128xbf16>) -> tensor<64x256xbf16>
    %7 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<256xbf16>) -> tensor<1x256xbf16>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x256xbf16>) -> tensor<64x256xbf16>
    %9 = stablehlo.add %6, %8 : tensor<64x256xbf16>
    %10 = stablehlo.multiply %9, %9 : tensor<64x256xbf16>
    %11 = stablehlo.multiply %10, %9 : tensor<64x256xbf16>
    %cst = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %13 = stablehlo.multiply %12, %11 : tensor<64x256xbf16>
    %14 = stablehlo.add %9, %13 : tensor<64x256xbf16>
    %cst_0 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %16 = stablehlo.multiply %15, %14 : tensor<64x256xbf16>
    %17 = stablehlo.tanh %16 : tensor<64x256xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %19 = stablehlo.add %18, %17 : tensor<64x256xbf16>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %21 = stablehlo.multiply %20, %19 : tensor<64x256xbf16>
    %22 = stablehlo.multiply %9, %21 : tensor<64x256xbf16>
    %23 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<bf16>) -> tensor<64x256xbf16>
    %24 = stablehlo.divide %22, %23 : tensor<64x256xbf16>
    %cst_3 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %25 = call @clip(%24, %cst_3, %cst_4) : (tensor<64x256xbf16>, tensor<f32>, tensor<f32>) -> tensor<64x256xbf16>
    %26 = stablehlo.convert %25 : (tensor<64x256xbf16>) -> tensor<64x256xf8E4M3FN>
    return %26 : tensor<64x256xf8E4M3FN>
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
