module {
  func.func @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi1>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = shape.shape_of %arg1 : tensor<?x?xi1> -> tensor<2xindex>
    %1 = shape.shape_of %arg0 : tensor<?x?xf32> -> tensor<2xindex>
    %2 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<2xindex>
    %3 = shape.assuming %2 -> (tensor<?x?xf32>) {
      %17 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %18 = stablehlo.dynamic_broadcast_in_dim %arg1, %17, dims = [0, 1] : (tensor<?x?xi1>, tensor<2xindex>) -> tensor<?x?xi1>
      %19 = stablehlo.dynamic_broadcast_in_dim %cst, %17, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x?xf32>
      %20 = stablehlo.dynamic_broadcast_in_dim %arg0, %17, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
      %21 = stablehlo.select %18, %19, %20 : tensor<?x?xi1>, tensor<?x?xf32>
      shape.assuming_yield %21 : tensor<?x?xf32>
    }
    %dim = tensor.dim %3, %c0 : tensor<?x?xf32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %5 = stablehlo.dynamic_reshape %4, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %6 = shape.shape_of %3 : tensor<?x?xf32> -> tensor<2xindex>
    %7 = shape.shape_of %5 : tensor<?x1xf32> -> tensor<2xindex>
    %8 = shape.cstr_broadcastable %6, %7 : tensor<2xindex>, tensor<2xindex>
    %9 = shape.assuming %8 -> (tensor<?x?xf32>) {
      %17 = shape.broadcast %6, %7 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %18 = stablehlo.dynamic_broadcast_in_dim %3, %17, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
      %19 = stablehlo.dynamic_broadcast_in_dim %5, %17, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x?xf32>
      %20 = stablehlo.subtract %18, %19 : tensor<?x?xf32>
      shape.assuming_yield %20 : tensor<?x?xf32>
    }
    %10 = stablehlo.exponential %9 : tensor<?x?xf32>
    %11 = stablehlo.reduce(%10 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_2 = tensor.dim %10, %c0 : tensor<?x?xf32>
    %from_elements_3 = tensor.from_elements %dim_2, %c1 : tensor<2xindex>
    %12 = stablehlo.dynamic_reshape %11, %from_elements_3 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %13 = shape.shape_of %10 : tensor<?x?xf32> -> tensor<2xindex>
    %14 = shape.shape_of %12 : tensor<?x1xf32> -> tensor<2xindex>
    %15 = shape.cstr_broadcastable %13, %14 : tensor<2xindex>, tensor<2xindex>
    %16 = shape.assuming %15 -> (tensor<?x?xf32>) {
      %17 = shape.broadcast %13, %14 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %18 = stablehlo.dynamic_broadcast_in_dim %10, %17, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
      %19 = stablehlo.dynamic_broadcast_in_dim %12, %17, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x?xf32>
      %20 = stablehlo.divide %18, %19 : tensor<?x?xf32>
      shape.assuming_yield %20 : tensor<?x?xf32>
    }
    return %16 : tensor<?x?xf32>
  }
}
