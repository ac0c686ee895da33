module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<ROWSx512xf8E4M3FN>) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<ROWSx512xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<ROWSx512xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<ROWSx512xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<ROWSx512xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<ROWSx512xf32>
    %7 = stablehlo.tanh %6 : tensor<ROWSx512xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %9 = stablehlo.add %8, %7 : tensor<ROWSx512xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<ROWSx512xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<ROWSx512xf32>
    %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<ROWSx512xf32>
    %c = stablehlo.constant dense<-448> : tensor<i32>
    %c_4 = stablehlo.constant dense<448> : tensor<i32>
    %15 = call @clip(%14, %c, %c_4) : (tensor<ROWSx512xf32>, tensor<i32>, tensor<i32>) -> tensor<ROWSx512xf32>
    %16 = stablehlo.convert %15 : (tensor<ROWSx512xf32>) -> tensor<ROWSx512xf8E4M3FN>
    return %16 : tensor<ROWSx512xf8E4M3FN>
  }
  func.func private @clip(%arg0: tensor<ROWSx512xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<ROWSx512xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<ROWSx512xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<ROWSx512xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<ROWSx512xf32>
    return %5 : tensor<ROWSx512xf32>
  }
}
