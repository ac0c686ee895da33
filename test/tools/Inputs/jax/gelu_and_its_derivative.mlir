// fused:
module @jit_gelu_and_its_derivative attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf8E4M3FN>, %arg1: tensor<256x128xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<64x256xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<64x128xf32>
    %3 = stablehlo.convert %arg1 : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
    %4 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<256x128xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<256x128xf32>
    %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    %7 = stablehlo.multiply %6, %6 : tensor<64x256xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<64x256xf32>
    %9 = stablehlo.multiply %6, %6 : tensor<64x256xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<64x256xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %13 = stablehlo.multiply %12, %8 : tensor<64x256xf32>
    %14 = stablehlo.add %6, %13 : tensor<64x256xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %16 = stablehlo.multiply %15, %14 : tensor<64x256xf32>
    %17 = stablehlo.tanh %16 : tensor<64x256xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %19 = stablehlo.subtract %18, %17 : tensor<64x256xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %21 = stablehlo.add %20, %17 : tensor<64x256xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %23 = stablehlo.multiply %22, %21 : tensor<64x256xf32>
    %24 = stablehlo.multiply %6, %23 : tensor<64x256xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %27 = stablehlo.multiply %6, %26 : tensor<64x256xf32>
    %28 = stablehlo.multiply %26, %23 : tensor<64x256xf32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %30 = stablehlo.multiply %29, %27 : tensor<64x256xf32>
    %31 = stablehlo.multiply %30, %19 : tensor<64x256xf32>
    %32 = stablehlo.multiply %31, %17 : tensor<64x256xf32>
    %33 = stablehlo.add %31, %32 : tensor<64x256xf32>
    %cst_8 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %35 = stablehlo.multiply %34, %33 : tensor<64x256xf32>
    %36 = stablehlo.add %28, %35 : tensor<64x256xf32>
    %cst_9 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %38 = stablehlo.multiply %37, %35 : tensor<64x256xf32>
    %39 = stablehlo.multiply %38, %11 : tensor<64x256xf32>
    %40 = stablehlo.add %36, %39 : tensor<64x256xf32>
    return %25, %40 : tensor<f32>, tensor<64x256xf32>
  }
}
