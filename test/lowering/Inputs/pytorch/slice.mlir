module {
  func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x3xf32> {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c-1_i64 = arith.constant -1 : i64
    %c0 = arith.constant 0 : index
    %c4_i64 = arith.constant 4 : i64
    %cst = arith.constant dense<1> : tensor<2xi64>
    %cst_0 = arith.constant dense<[0, 1]> : tensor<2xi64>
    %cst_1 = arith.constant dense<1> : tensor<1xi64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.subi %c0_i64, %0 : i64
    %2 = arith.maxsi %1, %c1_i64 : i64
    %3 = arith.minsi %0, %2 : i64
    %4 = arith.addi %0, %3 : i64
    %5 = arith.cmpi sge, %3, %c0_i64 : i64
    %6 = arith.select %5, %3, %4 : i64
    %7 = arith.maxsi %1, %c-1_i64 : i64
    %8 = arith.minsi %0, %7 : i64
    %9 = arith.addi %0, %8 : i64
    %10 = arith.cmpi sge, %8, %c0_i64 : i64
    %11 = arith.select %10, %8, %9 : i64
    %12 = arith.cmpi eq, %11, %c0_i64 : i64
    %13 = arith.select %12, %0, %11 : i64
    %from_elements = tensor.from_elements %6, %c0_i64 : tensor<2xi64>
    %from_elements_2 = tensor.from_elements %13, %c4_i64 : tensor<2xi64>
    %14 = stablehlo.real_dynamic_slice %arg0, %from_elements, %from_elements_2, %cst : (tensor<?x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x4xf32>
    %dim_3 = tensor.dim %14, %c0 : tensor<?x4xf32>
    %15 = arith.index_cast %dim_3 : index to i64
    %from_elements_4 = tensor.from_elements %15, %c4_i64 : tensor<2xi64>
    %16 = stablehlo.real_dynamic_slice %14, %cst_0, %from_elements_4, %cst : (tensor<?x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x3xf32>
    %17 = stablehlo.convert %cst_1 : (tensor<1xi64>) -> tensor<1xf32>
    %18 = stablehlo.reshape %17 : (tensor<1xf32>) -> tensor<f32>
    %19 = shape.shape_of %16 : tensor<?x3xf32> -> tensor<2xindex>
    %20 = stablehlo.dynamic_broadcast_in_dim %16, %19, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
    %21 = stablehlo.dynamic_broadcast_in_dim %18, %19, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x3xf32>
    %22 = stablehlo.add %20, %21 : tensor<?x3xf32>
    return %22 : tensor<?x3xf32>
  }
}
