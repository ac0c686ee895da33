// fused: fp8
module @jit_flax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xbf16>, %arg1: tensor<128x256xbf16>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<64x256xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %2 = stablehlo.divide %arg0, %1 : tensor<64x128xbf16>
    %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
    %cst_0 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %3 = call @clip(%2, %cst, %cst_0) : (tensor<64x128xbf16>, tensor<f32>, tensor<f32>) -> tensor<64x128xbf16>
    %4 = stablehlo.convert %3 : (tensor<64x128xbf16>) -> tensor<64x128xf8E4M3FN>
    %5 = stablehlo.convert %4 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
    %6 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %8 = stablehlo.multiply %5, %7 : tensor<64x128xbf16>
    %9 = stablehlo.convert %arg3 : (tensor<f32>) -> tensor<bf16>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<bf16>) -> tensor<128x256xbf16>
    %11 = stablehlo.divide %arg1, %10 : tensor<128x256xbf16>
    %cst_1 = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
    %cst_2 = stablehlo.constant dense<4.480000e+02> : tensor<f32>
    %12 = call @clip_0(%11, %cst_1, %cst_2) : (tensor<128x256xbf16>, tensor<f32>, tensor<f32>) -> tensor<128x256xbf16>
    %13 = stablehlo.convert %12 : (tensor<128x256xbf16>) -> tensor<128x256xf8E4M3FN>
    %14 = stablehlo.convert %13 : (tensor<128x256xf8E4M3FN>) -> tensor<128x256xbf16>
    %15 = stablehlo.convert %arg3 : (tensor<f32>) -> tensor<bf16>
    %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<bf16>) -> tensor<128x256xbf16>
    %17 = stablehlo.multiply %14, %16 : tensor<128x256xbf16>
    %18 = stablehlo.dot_general %8, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<128x256xbf16>) -> tensor<64x256xbf16>
    return %18 : tensor<64x256xbf16>
  }
  func.func private @clip(%arg0: tensor<64x128xbf16>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<64x128xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<64x128xbf16>
    %3 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
    %5 = stablehlo.minimum %4, %2 : tensor<64x128xbf16>
    return %5 : tensor<64x128xbf16>
  }
  func.func private @clip_0(%arg0: tensor<128x256xbf16>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<128x256xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<128x256xbf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<128x256xbf16>
    %3 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<128x256xbf16>
    %5 = stablehlo.minimum %4, %2 : tensor<128x256xbf16>
    return %5 : tensor<128x256xbf16>
  }
}
