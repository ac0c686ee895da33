module {
  func.func @main(%arg0: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_2 = stablehlo.constant dense<true> : tensor<i1>
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %cst_3 = arith.constant dense<0.70710678118654757> : tensor<1xf64>
    %c4 = arith.constant 4 : index
    %cst_4 = arith.constant dense<0xFFF0000000000000> : tensor<1xf64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x2x?x4xf32>
    %0 = arith.index_cast %dim : index to i64
    %dim_5 = tensor.dim %arg0, %c2 : tensor<?x2x?x4xf32>
    %1 = arith.index_cast %dim_5 : index to i64
    %2 = stablehlo.convert %cst_3 : (tensor<1xf64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = shape.shape_of %arg0 : tensor<?x2x?x4xf32> -> tensor<4xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg0, %4, dims = [0, 1, 2, 3] : (tensor<?x2x?x4xf32>, tensor<4xindex>) -> tensor<?x2x?x4xf32>
    %6 = stablehlo.dynamic_broadcast_in_dim %3, %4, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x?x4xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<?x2x?x4xf32>
    %from_elements = tensor.from_elements %dim_5, %dim_5 : tensor<2xindex>
    %8 = stablehlo.dynamic_broadcast_in_dim %c_2, %from_elements, dims = [] : (tensor<i1>, tensor<2xindex>) -> tensor<?x?xi1>
    %from_elements_6 = tensor.from_elements %1 : tensor<1xi64>
    %9 = stablehlo.convert %from_elements_6 : tensor<1xi64>
    %10 = stablehlo.reshape %9 : (tensor<1xi64>) -> tensor<i64>
    %11 = stablehlo.subtract %10, %c_0 : tensor<i64>
    %12 = stablehlo.convert %c : (tensor<i64>) -> tensor<f64>
    %13 = stablehlo.convert %11 : (tensor<i64>) -> tensor<f64>
    %14 = stablehlo.divide %13, %12 : tensor<f64>
    %15 = stablehlo.ceil %14 : tensor<f64>
    %16 = stablehlo.convert %15 : (tensor<f64>) -> tensor<i64>
    %17 = stablehlo.reshape %16 : (tensor<i64>) -> tensor<1xi64>
    %18 = stablehlo.dynamic_iota %17, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
    %19 = shape.shape_of %18 : tensor<?xi64> -> tensor<1xindex>
    %20 = stablehlo.dynamic_broadcast_in_dim %18, %19, dims = [0] : (tensor<?xi64>, tensor<1xindex>) -> tensor<?xi64>
    %21 = stablehlo.dynamic_broadcast_in_dim %c, %19, dims = [] : (tensor<i64>, tensor<1xindex>) -> tensor<?xi64>
    %22 = stablehlo.multiply %20, %21 : tensor<?xi64>
    %23 = shape.shape_of %22 : tensor<?xi64> -> tensor<1xindex>
    %24 = stablehlo.dynamic_broadcast_in_dim %22, %23, dims = [0] : (tensor<?xi64>, tensor<1xindex>) -> tensor<?xi64>
    %25 = stablehlo.dynamic_broadcast_in_dim %c_0, %23, dims = [] : (tensor<i64>, tensor<1xindex>) -> tensor<?xi64>
    %26 = stablehlo.add %24, %25 : tensor<?xi64>
    %dim_7 = tensor.dim %26, %c0 : tensor<?xi64>
    %from_elements_8 = tensor.from_elements %c1, %dim_7 : tensor<2xindex>
    %27 = stablehlo.dynamic_reshape %26, %from_elements_8 : (tensor<?xi64>, tensor<2xindex>) -> tensor<1x?xi64>
    %from_elements_9 = tensor.from_elements %dim_7, %c1 : tensor<2xindex>
    %28 = stablehlo.dynamic_reshape %26, %from_elements_9 : (tensor<?xi64>, tensor<2xindex>) -> tensor<?x1xi64>
    %29 = shape.shape_of %27 : tensor<1x?xi64> -> tensor<2xindex>
    %30 = shape.shape_of %28 : tensor<?x1xi64> -> tensor<2xindex>
    %31 = shape.broadcast %29, %30 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %32 = stablehlo.dynamic_broadcast_in_dim %27, %31, dims = [0, 1] : (tensor<1x?xi64>, tensor<2xindex>) -> tensor<?x?xi64>
    %33 = stablehlo.dynamic_broadcast_in_dim %28, %31, dims = [0, 1] : (tensor<?x1xi64>, tensor<2xindex>) -> tensor<?x?xi64>
    %34 = stablehlo.subtract %32, %33 : tensor<?x?xi64>
    %35 = shape.shape_of %34 : tensor<?x?xi64> -> tensor<2xindex>
    %36 = stablehlo.dynamic_broadcast_in_dim %34, %35, dims = [0, 1] : (tensor<?x?xi64>, tensor<2xindex>) -> tensor<?x?xi64>
    %37 = stablehlo.dynamic_broadcast_in_dim %c_0, %35, dims = [] : (tensor<i64>, tensor<2xindex>) -> tensor<?x?xi64>
    %38 = stablehlo.compare LE, %36, %37, SIGNED : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi1>
    %39 = shape.shape_of %38 : tensor<?x?xi1> -> tensor<2xindex>
    %40 = shape.shape_of %8 : tensor<?x?xi1> -> tensor<2xindex>
    %41 = shape.cstr_broadcastable %39, %40 : tensor<2xindex>, tensor<2xindex>
    %42 = shape.assuming %41 -> (tensor<?x?xi1>) {
      %101 = shape.broadcast %39, %40 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %102 = stablehlo.dynamic_broadcast_in_dim %38, %101, dims = [0, 1] : (tensor<?x?xi1>, tensor<2xindex>) -> tensor<?x?xi1>
      %103 = stablehlo.dynamic_broadcast_in_dim %8, %101, dims = [0, 1] : (tensor<?x?xi1>, tensor<2xindex>) -> tensor<?x?xi1>
      %104 = stablehlo.and %102, %103 : tensor<?x?xi1>
      shape.assuming_yield %104 : tensor<?x?xi1>
    }
    %43 = shape.shape_of %42 : tensor<?x?xi1> -> tensor<2xindex>
    %44 = stablehlo.dynamic_broadcast_in_dim %42, %43, dims = [0, 1] : (tensor<?x?xi1>, tensor<2xindex>) -> tensor<?x?xi1>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst, %43, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x?xf32>
    %46 = stablehlo.dynamic_broadcast_in_dim %cst_1, %43, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x?xf32>
    %47 = stablehlo.select %44, %45, %46 : tensor<?x?xi1>, tensor<?x?xf32>
    %48 = stablehlo.transpose %arg0, dims = [0, 1, 3, 2] : (tensor<?x2x?x4xf32>) -> tensor<?x2x4x?xf32>
    %49 = shape.shape_of %48 : tensor<?x2x4x?xf32> -> tensor<4xindex>
    %50 = stablehlo.dynamic_broadcast_in_dim %48, %49, dims = [0, 1, 2, 3] : (tensor<?x2x4x?xf32>, tensor<4xindex>) -> tensor<?x2x4x?xf32>
    %51 = stablehlo.dynamic_broadcast_in_dim %3, %49, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x4x?xf32>
    %52 = stablehlo.multiply %50, %51 : tensor<?x2x4x?xf32>
    %53 = arith.muli %0, %c2_i64 : i64
    %from_elements_10 = tensor.from_elements %dim, %c2, %dim_5, %c4 : tensor<4xindex>
    %54 = stablehlo.dynamic_broadcast_in_dim %7, %from_elements_10, dims = [0, 1, 2, 3] : (tensor<?x2x?x4xf32>, tensor<4xindex>) -> tensor<?x2x?x4xf32>
    %from_elements_11 = tensor.from_elements %53, %1, %c4_i64 : tensor<3xi64>
    %55 = stablehlo.dynamic_reshape %54, %from_elements_11 : (tensor<?x2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
    %from_elements_12 = tensor.from_elements %dim, %c2, %c4, %dim_5 : tensor<4xindex>
    %56 = stablehlo.dynamic_broadcast_in_dim %52, %from_elements_12, dims = [0, 1, 2, 3] : (tensor<?x2x4x?xf32>, tensor<4xindex>) -> tensor<?x2x4x?xf32>
    %from_elements_13 = tensor.from_elements %53, %c4_i64, %1 : tensor<3xi64>
    %57 = stablehlo.dynamic_reshape %56, %from_elements_13 : (tensor<?x2x4x?xf32>, tensor<3xi64>) -> tensor<?x4x?xf32>
    %dim_14 = tensor.dim %57, %c0 : tensor<?x4x?xf32>
    %dim_15 = tensor.dim %57, %c2 : tensor<?x4x?xf32>
    %from_elements_16 = tensor.from_elements %dim_14, %c4, %dim_15 : tensor<3xindex>
    %58 = stablehlo.dynamic_broadcast_in_dim %57, %from_elements_16, dims = [0, 1, 2] : (tensor<?x4x?xf32>, tensor<3xindex>) -> tensor<?x4x?xf32>
    %59 = stablehlo.dot_general %55, %58, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x4xf32>, tensor<?x4x?xf32>) -> tensor<?x?x?xf32>
    %from_elements_17 = tensor.from_elements %0, %c2_i64, %1, %1 : tensor<4xi64>
    %60 = stablehlo.dynamic_reshape %59, %from_elements_17 : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x2x?x?xf32>
    %61 = shape.shape_of %60 : tensor<?x2x?x?xf32> -> tensor<4xindex>
    %62 = shape.shape_of %47 : tensor<?x?xf32> -> tensor<2xindex>
    %63 = shape.cstr_broadcastable %61, %62 : tensor<4xindex>, tensor<2xindex>
    %64 = shape.assuming %63 -> (tensor<?x2x?x?xf32>) {
      %101 = shape.broadcast %61, %62 : tensor<4xindex>, tensor<2xindex> -> tensor<4xindex>
      %102 = stablehlo.dynamic_broadcast_in_dim %60, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %103 = stablehlo.dynamic_broadcast_in_dim %47, %101, dims = [2, 3] : (tensor<?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %104 = stablehlo.add %102, %103 : tensor<?x2x?x?xf32>
      shape.assuming_yield %104 : tensor<?x2x?x?xf32>
    }
    %dim_18 = tensor.dim %64, %c0 : tensor<?x2x?x?xf32>
    %dim_19 = tensor.dim %64, %c2 : tensor<?x2x?x?xf32>
    %65 = stablehlo.reduce(%64 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %from_elements_20 = tensor.from_elements %dim_18, %c2, %dim_19, %c1 : tensor<4xindex>
    %66 = stablehlo.dynamic_reshape %65, %from_elements_20 : (tensor<?x2x?xf32>, tensor<4xindex>) -> tensor<?x2x?x1xf32>
    %67 = shape.shape_of %64 : tensor<?x2x?x?xf32> -> tensor<4xindex>
    %68 = shape.shape_of %66 : tensor<?x2x?x1xf32> -> tensor<4xindex>
    %69 = shape.cstr_broadcastable %67, %68 : tensor<4xindex>, tensor<4xindex>
    %70 = shape.assuming %69 -> (tensor<?x2x?x?xf32>) {
      %101 = shape.broadcast %67, %68 : tensor<4xindex>, tensor<4xindex> -> tensor<4xindex>
      %102 = stablehlo.dynamic_broadcast_in_dim %64, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %103 = stablehlo.dynamic_broadcast_in_dim %66, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %104 = stablehlo.subtract %102, %103 : tensor<?x2x?x?xf32>
      shape.assuming_yield %104 : tensor<?x2x?x?xf32>
    }
    %71 = stablehlo.exponential %70 : tensor<?x2x?x?xf32>
    %72 = stablehlo.reduce(%71 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<?x2x?x?xf32>, tensor<f32>) -> tensor<?x2x?xf32>
    %dim_21 = tensor.dim %71, %c0 : tensor<?x2x?x?xf32>
    %dim_22 = tensor.dim %71, %c2 : tensor<?x2x?x?xf32>
    %from_elements_23 = tensor.from_elements %dim_21, %c2, %dim_22, %c1 : tensor<4xindex>
    %73 = stablehlo.dynamic_reshape %72, %from_elements_23 : (tensor<?x2x?xf32>, tensor<4xindex>) -> tensor<?x2x?x1xf32>
    %74 = shape.shape_of %71 : tensor<?x2x?x?xf32> -> tensor<4xindex>
    %75 = shape.shape_of %73 : tensor<?x2x?x1xf32> -> tensor<4xindex>
    %76 = shape.cstr_broadcastable %74, %75 : tensor<4xindex>, tensor<4xindex>
    %77 = shape.assuming %76 -> (tensor<?x2x?x?xf32>) {
      %101 = shape.broadcast %74, %75 : tensor<4xindex>, tensor<4xindex> -> tensor<4xindex>
      %102 = stablehlo.dynamic_broadcast_in_dim %71, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %103 = stablehlo.dynamic_broadcast_in_dim %73, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %104 = stablehlo.divide %102, %103 : tensor<?x2x?x?xf32>
      shape.assuming_yield %104 : tensor<?x2x?x?xf32>
    }
    %78 = stablehlo.convert %cst_4 : tensor<1xf64>
    %79 = stablehlo.reshape %78 : (tensor<1xf64>) -> tensor<f64>
    %80 = stablehlo.convert %79 : (tensor<f64>) -> tensor<f32>
    %81 = stablehlo.dynamic_broadcast_in_dim %64, %67, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
    %82 = stablehlo.dynamic_broadcast_in_dim %80, %67, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
    %83 = stablehlo.compare EQ, %81, %82, FLOAT : (tensor<?x2x?x?xf32>, tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xi1>
    %84 = stablehlo.reduce(%83 init: %c_2) applies stablehlo.and across dimensions = [3] : (tensor<?x2x?x?xi1>, tensor<i1>) -> tensor<?x2x?xi1>
    %dim_24 = tensor.dim %83, %c0 : tensor<?x2x?x?xi1>
    %dim_25 = tensor.dim %83, %c2 : tensor<?x2x?x?xi1>
    %from_elements_26 = tensor.from_elements %dim_24, %c2, %dim_25, %c1 : tensor<4xindex>
    %85 = stablehlo.dynamic_reshape %84, %from_elements_26 : (tensor<?x2x?xi1>, tensor<4xindex>) -> tensor<?x2x?x1xi1>
    %dim_27 = tensor.dim %77, %c0 : tensor<?x2x?x?xf32>
    %dim_28 = tensor.dim %77, %c2 : tensor<?x2x?x?xf32>
    %dim_29 = tensor.dim %77, %c3 : tensor<?x2x?x?xf32>
    %from_elements_30 = tensor.from_elements %dim_27, %c2, %dim_28, %dim_29 : tensor<4xindex>
    %86 = stablehlo.dynamic_broadcast_in_dim %cst, %from_elements_30, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
    %87 = shape.shape_of %85 : tensor<?x2x?x1xi1> -> tensor<4xindex>
    %88 = shape.shape_of %86 : tensor<?x2x?x?xf32> -> tensor<4xindex>
    %89 = shape.shape_of %77 : tensor<?x2x?x?xf32> -> tensor<4xindex>
    %90 = shape.cstr_broadcastable %87, %88, %89 : tensor<4xindex>, tensor<4xindex>, tensor<4xindex>
    %91 = shape.assuming %90 -> (tensor<?x2x?x?xf32>) {
      %101 = shape.broadcast %87, %88, %89 : tensor<4xindex>, tensor<4xindex>, tensor<4xindex> -> tensor<4xindex>
      %102 = stablehlo.dynamic_broadcast_in_dim %85, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x1xi1>, tensor<4xindex>) -> tensor<?x2x?x?xi1>
      %103 = stablehlo.dynamic_broadcast_in_dim %86, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %104 = stablehlo.dynamic_broadcast_in_dim %77, %101, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
      %105 = stablehlo.select %102, %103, %104 : tensor<?x2x?x?xi1>, tensor<?x2x?x?xf32>
      shape.assuming_yield %105 : tensor<?x2x?x?xf32>
    }
    %from_elements_31 = tensor.from_elements %dim, %c2, %dim_5, %dim_5 : tensor<4xindex>
    %92 = stablehlo.dynamic_broadcast_in_dim %91, %from_elements_31, dims = [0, 1, 2, 3] : (tensor<?x2x?x?xf32>, tensor<4xindex>) -> tensor<?x2x?x?xf32>
    %from_elements_32 = tensor.from_elements %53, %1, %1 : tensor<3xi64>
    %93 = stablehlo.dynamic_reshape %92, %from_elements_32 : (tensor<?x2x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    %94 = stablehlo.dynamic_broadcast_in_dim %arg0, %from_elements_10, dims = [0, 1, 2, 3] : (tensor<?x2x?x4xf32>, tensor<4xindex>) -> tensor<?x2x?x4xf32>
    %95 = stablehlo.dynamic_reshape %94, %from_elements_11 : (tensor<?x2x?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
    %dim_33 = tensor.dim %95, %c0 : tensor<?x?x4xf32>
    %dim_34 = tensor.dim %95, %c1 : tensor<?x?x4xf32>
    %from_elements_35 = tensor.from_elements %dim_33, %dim_34, %c4 : tensor<3xindex>
    %96 = stablehlo.dynamic_broadcast_in_dim %95, %from_elements_35, dims = [0, 1, 2] : (tensor<?x?x4xf32>, tensor<3xindex>) -> tensor<?x?x4xf32>
    %97 = stablehlo.dot_general %93, %96, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x?xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %from_elements_36 = tensor.from_elements %0, %c2_i64, %1, %c4_i64 : tensor<4xi64>
    %98 = stablehlo.dynamic_reshape %97, %from_elements_36 : (tensor<?x?x4xf32>, tensor<4xi64>) -> tensor<?x2x?x4xf32>
    %99 = stablehlo.transpose %98, dims = [2, 0, 1, 3] : (tensor<?x2x?x4xf32>) -> tensor<?x?x2x4xf32>
    %100 = stablehlo.transpose %99, dims = [1, 2, 0, 3] : (tensor<?x?x2x4xf32>) -> tensor<?x2x?x4xf32>
    return %100 : tensor<?x2x?x4xf32>
  }
}
