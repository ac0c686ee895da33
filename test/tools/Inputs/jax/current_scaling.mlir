// fused: fp8 xla-gpu cublaslt torch-scaled-mm
module @jit_current_scaling attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xbf16>, %arg1: tensor<256x128xbf16>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.abs %arg0 : tensor<64x128xbf16>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x128xbf16>, tensor<bf16>) -> tensor<bf16>
    %2 = stablehlo.convert %1 : (tensor<bf16>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %3 = stablehlo.maximum %2, %cst_0 : tensor<f32>
    %cst_1 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %4 = stablehlo.divide %3, %cst_1 : tensor<f32>
    %5 = stablehlo.convert %arg0 : (tensor<64x128xbf16>) -> tensor<64x128xf32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %7 = stablehlo.divide %5, %6 : tensor<64x128xf32>
    %c = stablehlo.constant dense<-448> : tensor<i32>
    %c_2 = stablehlo.constant dense<448> : tensor<i32>
    %8 = call @clip(%7, %c, %c_2) : (tensor<64x128xf32>, tensor<i32>, tensor<i32>) -> tensor<64x128xf32>
    %9 = stablehlo.convert %8 : (tensor<64x128xf32>) -> tensor<64x128xf8E4M3FN>
    %10 = stablehlo.abs %arg1 : tensor<256x128xbf16>
    %cst_3 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %11 = stablehlo.reduce(%10 init: %cst_3) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<256x128xbf16>, tensor<bf16>) -> tensor<bf16>
    %12 = stablehlo.convert %11 : (tensor<bf16>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %13 = stablehlo.maximum %12, %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %14 = stablehlo.divide %13, %cst_5 : tensor<f32>
    %15 = stablehlo.convert %arg1 : (tensor<256x128xbf16>) -> tensor<256x128xf32>
    %16 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %17 = stablehlo.divide %15, %16 : tensor<256x128xf32>
    %c_6 = stablehlo.constant dense<-448> : tensor<i32>
    %c_7 = stablehlo.constant dense<448> : tensor<i32>
    %18 = call @clip_0(%17, %c_6, %c_7) : (tensor<256x128xf32>, tensor<i32>, tensor<i32>) -> tensor<256x128xf32>
    %19 = stablehlo.convert %18 : (tensor<256x128xf32>) -> tensor<256x128xf8E4M3FN>
    %20 = stablehlo.dot_general %9, %19, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf8E4M3FN>, tensor<256x128xf8E4M3FN>) -> tensor<64x256xf32>
    %21 = stablehlo.multiply %4, %14 : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %23 = stablehlo.multiply %20, %22 : tensor<64x256xf32>
    %24 = stablehlo.convert %23 : (tensor<64x256xf32>) -> tensor<64x256xbf16>
    return %24 : tensor<64x256xbf16>
  }
  func.func private @clip(%arg0: tensor<64x128xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<64x128xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<64x128xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<64x128xf32>
    return %5 : tensor<64x128xf32>
  }
  func.func private @clip_0(%arg0: tensor<256x128xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<256x128xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<256x128xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<256x128xf32>
    return %5 : tensor<256x128xf32>
  }
}
