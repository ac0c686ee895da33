module {
  func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant dense<0> : tensor<1xi64>
    %cst_0 = arith.constant dense<1> : tensor<1xi64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = stablehlo.convert %cst : (tensor<1xi64>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    %from_elements = tensor.from_elements %0 : tensor<1xi64>
    %3 = stablehlo.convert %from_elements : (tensor<1xi64>) -> tensor<1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
    %5 = stablehlo.convert %cst_0 : (tensor<1xi64>) -> tensor<1xf32>
    %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
    %7 = stablehlo.subtract %4, %2 : tensor<f32>
    %8 = stablehlo.convert %6 : (tensor<f32>) -> tensor<f64>
    %9 = stablehlo.convert %7 : (tensor<f32>) -> tensor<f64>
    %10 = stablehlo.divide %9, %8 : tensor<f64>
    %11 = stablehlo.ceil %10 : tensor<f64>
    %12 = stablehlo.convert %11 : (tensor<f64>) -> tensor<i64>
    %13 = stablehlo.reshape %12 : (tensor<i64>) -> tensor<1xi64>
    %14 = stablehlo.dynamic_iota %13, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
    %15 = shape.shape_of %14 : tensor<?xf32> -> tensor<1xindex>
    %16 = stablehlo.dynamic_broadcast_in_dim %14, %15, dims = [0] : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
    %17 = stablehlo.dynamic_broadcast_in_dim %6, %15, dims = [] : (tensor<f32>, tensor<1xindex>) -> tensor<?xf32>
    %18 = stablehlo.multiply %16, %17 : tensor<?xf32>
    %19 = shape.shape_of %18 : tensor<?xf32> -> tensor<1xindex>
    %20 = stablehlo.dynamic_broadcast_in_dim %18, %19, dims = [0] : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
    %21 = stablehlo.dynamic_broadcast_in_dim %2, %19, dims = [] : (tensor<f32>, tensor<1xindex>) -> tensor<?xf32>
    %22 = stablehlo.add %20, %21 : tensor<?xf32>
    %dim_1 = tensor.dim %22, %c0 : tensor<?xf32>
    %from_elements_2 = tensor.from_elements %dim_1, %c1 : tensor<2xindex>
    %23 = stablehlo.dynamic_reshape %22, %from_elements_2 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %24 = shape.shape_of %arg0 : tensor<?x4xf32> -> tensor<2xindex>
    %25 = shape.shape_of %23 : tensor<?x1xf32> -> tensor<2xindex>
    %26 = shape.cstr_broadcastable %24, %25 : tensor<2xindex>, tensor<2xindex>
    %27 = shape.assuming %26 -> (tensor<?x4xf32>) {
      %28 = shape.broadcast %24, %25 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %29 = stablehlo.dynamic_broadcast_in_dim %arg0, %28, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %30 = stablehlo.dynamic_broadcast_in_dim %23, %28, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %31 = stablehlo.add %29, %30 : tensor<?x4xf32>
      shape.assuming_yield %31 : tensor<?x4xf32>
    }
    return %27 : tensor<?x4xf32>
  }
}
