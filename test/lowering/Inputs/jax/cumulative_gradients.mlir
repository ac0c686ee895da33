module @jit_cumulative_gradients attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x9xf32>) -> (tensor<6x9xf32> {jax.result_info = "result[0]"}, tensor<6x9xf32> {jax.result_info = "result[1]"}, tensor<6x9xf32> {jax.result_info = "result[2]"}, tensor<6x9xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<9xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<9xf32>
    %3 = call @cumsum(%arg0) : (tensor<6x9xf32>) -> tensor<6x9xf32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %6 = stablehlo.multiply %3, %5 : tensor<6x9xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x9xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x9xf32>
    %9 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<6x9xf32>
    %11 = call @cumsum_1(%10) : (tensor<6x9xf32>) -> tensor<6x9xf32>
    %12:13 = call @cumprod(%arg0) : (tensor<6x9xf32>) -> (tensor<6x9xf32>, tensor<3x9xf32>, tensor<3x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<f32>, tensor<f32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<f32>, tensor<f32>)
    %13 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %15 = stablehlo.multiply %12#0, %14 : tensor<6x9xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x9xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x9xf32>
    %18 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<6x9xf32>
    %20 = call @cumprod_3(%12#1, %12#2, %12#3, %12#4, %12#5, %12#6, %12#7, %12#8, %12#9, %12#10, %12#11, %12#12, %19) : (tensor<3x9xf32>, tensor<3x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<f32>, tensor<f32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<f32>, tensor<f32>, tensor<6x9xf32>) -> tensor<6x9xf32>
    %21 = stablehlo.slice %arg0 [0:6, 0:8:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %22 = stablehlo.slice %arg0 [0:6, 1:9:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %23 = stablehlo.maximum %21, %22 : tensor<6x4xf32>
    %24 = stablehlo.compare EQ, %21, %23, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %27 = stablehlo.select %24, %25, %26 : tensor<6x4xi1>, tensor<6x4xf32>
    %28 = stablehlo.compare EQ, %22, %23, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %31 = stablehlo.select %28, %29, %30 : tensor<6x4xi1>, tensor<6x4xf32>
    %32 = stablehlo.divide %27, %31 : tensor<6x4xf32>
    %33 = stablehlo.compare EQ, %22, %23, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %36 = stablehlo.select %33, %34, %35 : tensor<6x4xi1>, tensor<6x4xf32>
    %37 = stablehlo.compare EQ, %21, %23, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %40 = stablehlo.select %37, %38, %39 : tensor<6x4xi1>, tensor<6x4xf32>
    %41 = stablehlo.divide %36, %40 : tensor<6x4xf32>
    %42 = stablehlo.slice %23 [0:6, 0:3:2] : (tensor<6x4xf32>) -> tensor<6x2xf32>
    %43 = stablehlo.slice %23 [0:6, 1:4:2] : (tensor<6x4xf32>) -> tensor<6x2xf32>
    %44 = stablehlo.maximum %42, %43 : tensor<6x2xf32>
    %45 = stablehlo.compare EQ, %42, %44, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %48 = stablehlo.select %45, %46, %47 : tensor<6x2xi1>, tensor<6x2xf32>
    %49 = stablehlo.compare EQ, %43, %44, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %52 = stablehlo.select %49, %50, %51 : tensor<6x2xi1>, tensor<6x2xf32>
    %53 = stablehlo.divide %48, %52 : tensor<6x2xf32>
    %54 = stablehlo.compare EQ, %43, %44, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<6x2xi1>, tensor<6x2xf32>
    %58 = stablehlo.compare EQ, %42, %44, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %61 = stablehlo.select %58, %59, %60 : tensor<6x2xi1>, tensor<6x2xf32>
    %62 = stablehlo.divide %57, %61 : tensor<6x2xf32>
    %63 = stablehlo.slice %44 [0:6, 0:1:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %64 = stablehlo.slice %44 [0:6, 1:2:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %65 = stablehlo.maximum %63, %64 : tensor<6x1xf32>
    %66 = stablehlo.compare EQ, %63, %65, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %69 = stablehlo.select %66, %67, %68 : tensor<6x1xi1>, tensor<6x1xf32>
    %70 = stablehlo.compare EQ, %64, %65, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_23 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %73 = stablehlo.select %70, %71, %72 : tensor<6x1xi1>, tensor<6x1xf32>
    %74 = stablehlo.divide %69, %73 : tensor<6x1xf32>
    %75 = stablehlo.compare EQ, %64, %65, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %78 = stablehlo.select %75, %76, %77 : tensor<6x1xi1>, tensor<6x1xf32>
    %79 = stablehlo.compare EQ, %63, %65, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_26 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %82 = stablehlo.select %79, %80, %81 : tensor<6x1xi1>, tensor<6x1xf32>
    %83 = stablehlo.divide %78, %82 : tensor<6x1xf32>
    %84 = stablehlo.slice %65 [0:6, 0:0] : (tensor<6x1xf32>) -> tensor<6x0xf32>
    %85 = stablehlo.slice %44 [0:6, 2:2:2] : (tensor<6x2xf32>) -> tensor<6x0xf32>
    %86 = stablehlo.maximum %84, %85 : tensor<6x0xf32>
    %87 = stablehlo.compare EQ, %84, %86, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %90 = stablehlo.select %87, %88, %89 : tensor<6x0xi1>, tensor<6x0xf32>
    %91 = stablehlo.compare EQ, %85, %86, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_30 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %94 = stablehlo.select %91, %92, %93 : tensor<6x0xi1>, tensor<6x0xf32>
    %95 = stablehlo.divide %90, %94 : tensor<6x0xf32>
    %96 = stablehlo.compare EQ, %85, %86, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %99 = stablehlo.select %96, %97, %98 : tensor<6x0xi1>, tensor<6x0xf32>
    %100 = stablehlo.compare EQ, %84, %86, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_34 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %cst_35 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %103 = stablehlo.select %100, %101, %102 : tensor<6x0xi1>, tensor<6x0xf32>
    %104 = stablehlo.divide %99, %103 : tensor<6x0xf32>
    %105 = stablehlo.slice %44 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %106 = stablehlo.concatenate %105, %86, dim = 1 : (tensor<6x1xf32>, tensor<6x0xf32>) -> tensor<6x1xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.pad %106, %cst_36, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %108 = stablehlo.pad %65, %cst_37, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %109 = stablehlo.add %107, %108 : tensor<6x2xf32>
    %110 = stablehlo.slice %109 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %111 = stablehlo.slice %23 [0:6, 2:4:2] : (tensor<6x4xf32>) -> tensor<6x1xf32>
    %112 = stablehlo.maximum %110, %111 : tensor<6x1xf32>
    %113 = stablehlo.compare EQ, %110, %112, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %116 = stablehlo.select %113, %114, %115 : tensor<6x1xi1>, tensor<6x1xf32>
    %117 = stablehlo.compare EQ, %111, %112, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_40 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_41 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %120 = stablehlo.select %117, %118, %119 : tensor<6x1xi1>, tensor<6x1xf32>
    %121 = stablehlo.divide %116, %120 : tensor<6x1xf32>
    %122 = stablehlo.compare EQ, %111, %112, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_42 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %125 = stablehlo.select %122, %123, %124 : tensor<6x1xi1>, tensor<6x1xf32>
    %126 = stablehlo.compare EQ, %110, %112, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_44 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %129 = stablehlo.select %126, %127, %128 : tensor<6x1xi1>, tensor<6x1xf32>
    %130 = stablehlo.divide %125, %129 : tensor<6x1xf32>
    %131 = stablehlo.slice %23 [0:6, 0:1] : (tensor<6x4xf32>) -> tensor<6x1xf32>
    %132 = stablehlo.concatenate %131, %112, dim = 1 : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x2xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.pad %132, %cst_46, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.pad %109, %cst_47, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %135 = stablehlo.add %133, %134 : tensor<6x4xf32>
    %136 = stablehlo.slice %arg0 [0:6, 2:9:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %137 = stablehlo.maximum %135, %136 : tensor<6x4xf32>
    %138 = stablehlo.compare EQ, %135, %137, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %141 = stablehlo.select %138, %139, %140 : tensor<6x4xi1>, tensor<6x4xf32>
    %142 = stablehlo.compare EQ, %136, %137, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_50 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %145 = stablehlo.select %142, %143, %144 : tensor<6x4xi1>, tensor<6x4xf32>
    %146 = stablehlo.divide %141, %145 : tensor<6x4xf32>
    %147 = stablehlo.compare EQ, %136, %137, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %150 = stablehlo.select %147, %148, %149 : tensor<6x4xi1>, tensor<6x4xf32>
    %151 = stablehlo.compare EQ, %135, %137, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_54 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %154 = stablehlo.select %151, %152, %153 : tensor<6x4xi1>, tensor<6x4xf32>
    %155 = stablehlo.divide %150, %154 : tensor<6x4xf32>
    %156 = stablehlo.slice %arg0 [0:6, 0:1] : (tensor<6x9xf32>) -> tensor<6x1xf32>
    %157 = stablehlo.concatenate %156, %137, dim = 1 : (tensor<6x1xf32>, tensor<6x4xf32>) -> tensor<6x5xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.pad %157, %cst_56, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6x9xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.pad %135, %cst_57, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %160 = stablehlo.add %158, %159 : tensor<6x9xf32>
    %161 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %162 = stablehlo.broadcast_in_dim %161, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %163 = stablehlo.multiply %160, %162 : tensor<6x9xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.reduce(%163 init: %cst_58) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x9xf32>, tensor<f32>) -> tensor<f32>
    %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<6x9xf32>
    %166 = stablehlo.broadcast_in_dim %161, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %167 = stablehlo.multiply %165, %166 : tensor<6x9xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.pad %167, %cst_60, low = [0, -1], high = [0, -1], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x7xf32>
    %169 = stablehlo.slice %168 [0:6, 0:7:2] : (tensor<6x7xf32>) -> tensor<6x4xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %170 = stablehlo.pad %167, %cst_61, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %171 = stablehlo.slice %170 [0:6, 0:9:2] : (tensor<6x9xf32>) -> tensor<6x5xf32>
    %172 = stablehlo.slice %171 [0:6, 0:1] : (tensor<6x5xf32>) -> tensor<6x1xf32>
    %173 = stablehlo.slice %171 [0:6, 1:5] : (tensor<6x5xf32>) -> tensor<6x4xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %174 = stablehlo.pad %172, %cst_62, low = [0, 0], high = [0, 8], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x9xf32>
    %175 = stablehlo.multiply %173, %155 : tensor<6x4xf32>
    %176 = stablehlo.multiply %173, %146 : tensor<6x4xf32>
    %177 = stablehlo.add %169, %176 : tensor<6x4xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.pad %175, %cst_63, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %179 = stablehlo.add %174, %178 : tensor<6x9xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %180 = stablehlo.pad %177, %cst_64, low = [0, -1], high = [0, 0], interior = [0, 0] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x3xf32>
    %181 = stablehlo.slice %180 [0:6, 0:3:2] : (tensor<6x3xf32>) -> tensor<6x2xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.pad %177, %cst_65, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x3xf32>
    %183 = stablehlo.slice %182 [0:6, 0:3:2] : (tensor<6x3xf32>) -> tensor<6x2xf32>
    %184 = stablehlo.slice %183 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %185 = stablehlo.slice %183 [0:6, 1:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %186 = stablehlo.pad %184, %cst_66, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x4xf32>
    %187 = stablehlo.multiply %185, %130 : tensor<6x1xf32>
    %188 = stablehlo.multiply %185, %121 : tensor<6x1xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.pad %187, %cst_67, low = [0, 2], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x4xf32>
    %190 = stablehlo.add %186, %189 : tensor<6x4xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.pad %188, %cst_68, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %192 = stablehlo.add %181, %191 : tensor<6x2xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %193 = stablehlo.pad %192, %cst_69, low = [0, -1], high = [0, 0], interior = [0, 0] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x1xf32>
    %194 = stablehlo.slice %193 [0:6, 0:1:2] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %195 = stablehlo.pad %192, %cst_70, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x1xf32>
    %196 = stablehlo.slice %195 [0:6, 0:1:2] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %197 = stablehlo.slice %196 [0:6, 0:1] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %198 = stablehlo.slice %196 [0:6, 1:1] : (tensor<6x1xf32>) -> tensor<6x0xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.pad %197, %cst_71, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %200 = stablehlo.multiply %198, %104 : tensor<6x0xf32>
    %201 = stablehlo.multiply %198, %95 : tensor<6x0xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %202 = stablehlo.pad %200, %cst_72, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<6x0xf32>, tensor<f32>) -> tensor<6x2xf32>
    %203 = stablehlo.add %199, %202 : tensor<6x2xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %204 = stablehlo.pad %201, %cst_73, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x0xf32>, tensor<f32>) -> tensor<6x1xf32>
    %205 = stablehlo.add %194, %204 : tensor<6x1xf32>
    %206 = stablehlo.multiply %205, %83 : tensor<6x1xf32>
    %207 = stablehlo.multiply %205, %74 : tensor<6x1xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %208 = stablehlo.pad %206, %cst_74, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %209 = stablehlo.add %203, %208 : tensor<6x2xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %210 = stablehlo.pad %207, %cst_75, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %211 = stablehlo.add %209, %210 : tensor<6x2xf32>
    %212 = stablehlo.multiply %211, %62 : tensor<6x2xf32>
    %213 = stablehlo.multiply %211, %53 : tensor<6x2xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %214 = stablehlo.pad %212, %cst_76, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %215 = stablehlo.add %190, %214 : tensor<6x4xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %216 = stablehlo.pad %213, %cst_77, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %217 = stablehlo.add %215, %216 : tensor<6x4xf32>
    %218 = stablehlo.multiply %217, %41 : tensor<6x4xf32>
    %219 = stablehlo.multiply %217, %32 : tensor<6x4xf32>
    %cst_78 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.pad %218, %cst_78, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %221 = stablehlo.add %179, %220 : tensor<6x9xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %222 = stablehlo.pad %219, %cst_79, low = [0, 0], high = [0, 2], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %223 = stablehlo.add %221, %222 : tensor<6x9xf32>
    %224 = stablehlo.slice %arg0 [0:6, 0:8:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %225 = stablehlo.slice %arg0 [0:6, 1:9:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %226 = stablehlo.maximum %224, %225 : tensor<6x4xf32>
    %227 = stablehlo.subtract %224, %225 : tensor<6x4xf32>
    %228 = stablehlo.compare NE, %227, %227, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %229 = stablehlo.add %224, %225 : tensor<6x4xf32>
    %230 = stablehlo.abs %227 : tensor<6x4xf32>
    %231 = stablehlo.negate %230 : tensor<6x4xf32>
    %232 = stablehlo.exponential %231 : tensor<6x4xf32>
    %233 = stablehlo.log_plus_one %232 : tensor<6x4xf32>
    %234 = stablehlo.add %226, %233 : tensor<6x4xf32>
    %235 = stablehlo.select %228, %229, %234 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_80 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %237 = stablehlo.compare EQ, %224, %236, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %239 = stablehlo.select %237, %238, %224 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_82 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %241 = stablehlo.compare EQ, %235, %240, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %243 = stablehlo.select %241, %242, %235 : tensor<6x4xi1>, tensor<6x4xf32>
    %244 = stablehlo.subtract %239, %243 : tensor<6x4xf32>
    %245 = stablehlo.exponential %244 : tensor<6x4xf32>
    %cst_84 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %247 = stablehlo.compare EQ, %225, %246, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %248 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %249 = stablehlo.select %247, %248, %225 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_86 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %251 = stablehlo.compare EQ, %235, %250, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %253 = stablehlo.select %251, %252, %235 : tensor<6x4xi1>, tensor<6x4xf32>
    %254 = stablehlo.subtract %249, %253 : tensor<6x4xf32>
    %255 = stablehlo.exponential %254 : tensor<6x4xf32>
    %256 = stablehlo.slice %235 [0:6, 0:3:2] : (tensor<6x4xf32>) -> tensor<6x2xf32>
    %257 = stablehlo.slice %235 [0:6, 1:4:2] : (tensor<6x4xf32>) -> tensor<6x2xf32>
    %258 = stablehlo.maximum %256, %257 : tensor<6x2xf32>
    %259 = stablehlo.subtract %256, %257 : tensor<6x2xf32>
    %260 = stablehlo.compare NE, %259, %259, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %261 = stablehlo.add %256, %257 : tensor<6x2xf32>
    %262 = stablehlo.abs %259 : tensor<6x2xf32>
    %263 = stablehlo.negate %262 : tensor<6x2xf32>
    %264 = stablehlo.exponential %263 : tensor<6x2xf32>
    %265 = stablehlo.log_plus_one %264 : tensor<6x2xf32>
    %266 = stablehlo.add %258, %265 : tensor<6x2xf32>
    %267 = stablehlo.select %260, %261, %266 : tensor<6x2xi1>, tensor<6x2xf32>
    %cst_88 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %269 = stablehlo.compare EQ, %256, %268, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_89 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %271 = stablehlo.select %269, %270, %256 : tensor<6x2xi1>, tensor<6x2xf32>
    %cst_90 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %273 = stablehlo.compare EQ, %267, %272, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %274 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %275 = stablehlo.select %273, %274, %267 : tensor<6x2xi1>, tensor<6x2xf32>
    %276 = stablehlo.subtract %271, %275 : tensor<6x2xf32>
    %277 = stablehlo.exponential %276 : tensor<6x2xf32>
    %cst_92 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %279 = stablehlo.compare EQ, %257, %278, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %281 = stablehlo.select %279, %280, %257 : tensor<6x2xi1>, tensor<6x2xf32>
    %cst_94 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %283 = stablehlo.compare EQ, %267, %282, FLOAT : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
    %cst_95 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %284 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %285 = stablehlo.select %283, %284, %267 : tensor<6x2xi1>, tensor<6x2xf32>
    %286 = stablehlo.subtract %281, %285 : tensor<6x2xf32>
    %287 = stablehlo.exponential %286 : tensor<6x2xf32>
    %288 = stablehlo.slice %267 [0:6, 0:1:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %289 = stablehlo.slice %267 [0:6, 1:2:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %290 = stablehlo.maximum %288, %289 : tensor<6x1xf32>
    %291 = stablehlo.subtract %288, %289 : tensor<6x1xf32>
    %292 = stablehlo.compare NE, %291, %291, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %293 = stablehlo.add %288, %289 : tensor<6x1xf32>
    %294 = stablehlo.abs %291 : tensor<6x1xf32>
    %295 = stablehlo.negate %294 : tensor<6x1xf32>
    %296 = stablehlo.exponential %295 : tensor<6x1xf32>
    %297 = stablehlo.log_plus_one %296 : tensor<6x1xf32>
    %298 = stablehlo.add %290, %297 : tensor<6x1xf32>
    %299 = stablehlo.select %292, %293, %298 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_96 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %300 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %301 = stablehlo.compare EQ, %288, %300, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_97 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %303 = stablehlo.select %301, %302, %288 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_98 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %304 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %305 = stablehlo.compare EQ, %299, %304, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_99 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %306 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %307 = stablehlo.select %305, %306, %299 : tensor<6x1xi1>, tensor<6x1xf32>
    %308 = stablehlo.subtract %303, %307 : tensor<6x1xf32>
    %309 = stablehlo.exponential %308 : tensor<6x1xf32>
    %cst_100 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %311 = stablehlo.compare EQ, %289, %310, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %313 = stablehlo.select %311, %312, %289 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_102 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %315 = stablehlo.compare EQ, %299, %314, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_103 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %317 = stablehlo.select %315, %316, %299 : tensor<6x1xi1>, tensor<6x1xf32>
    %318 = stablehlo.subtract %313, %317 : tensor<6x1xf32>
    %319 = stablehlo.exponential %318 : tensor<6x1xf32>
    %320 = stablehlo.slice %299 [0:6, 0:0] : (tensor<6x1xf32>) -> tensor<6x0xf32>
    %321 = stablehlo.slice %267 [0:6, 2:2:2] : (tensor<6x2xf32>) -> tensor<6x0xf32>
    %322 = stablehlo.maximum %320, %321 : tensor<6x0xf32>
    %323 = stablehlo.subtract %320, %321 : tensor<6x0xf32>
    %324 = stablehlo.compare NE, %323, %323, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %325 = stablehlo.add %320, %321 : tensor<6x0xf32>
    %326 = stablehlo.abs %323 : tensor<6x0xf32>
    %327 = stablehlo.negate %326 : tensor<6x0xf32>
    %328 = stablehlo.exponential %327 : tensor<6x0xf32>
    %329 = stablehlo.log_plus_one %328 : tensor<6x0xf32>
    %330 = stablehlo.add %322, %329 : tensor<6x0xf32>
    %331 = stablehlo.select %324, %325, %330 : tensor<6x0xi1>, tensor<6x0xf32>
    %cst_104 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %333 = stablehlo.compare EQ, %320, %332, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %334 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %335 = stablehlo.select %333, %334, %320 : tensor<6x0xi1>, tensor<6x0xf32>
    %cst_106 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %336 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %337 = stablehlo.compare EQ, %331, %336, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_107 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %339 = stablehlo.select %337, %338, %331 : tensor<6x0xi1>, tensor<6x0xf32>
    %340 = stablehlo.subtract %335, %339 : tensor<6x0xf32>
    %341 = stablehlo.exponential %340 : tensor<6x0xf32>
    %cst_108 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %342 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %343 = stablehlo.compare EQ, %321, %342, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_109 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %345 = stablehlo.select %343, %344, %321 : tensor<6x0xi1>, tensor<6x0xf32>
    %cst_110 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %347 = stablehlo.compare EQ, %331, %346, FLOAT : (tensor<6x0xf32>, tensor<6x0xf32>) -> tensor<6x0xi1>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %348 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<6x0xf32>
    %349 = stablehlo.select %347, %348, %331 : tensor<6x0xi1>, tensor<6x0xf32>
    %350 = stablehlo.subtract %345, %349 : tensor<6x0xf32>
    %351 = stablehlo.exponential %350 : tensor<6x0xf32>
    %352 = stablehlo.slice %267 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %353 = stablehlo.concatenate %352, %331, dim = 1 : (tensor<6x1xf32>, tensor<6x0xf32>) -> tensor<6x1xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %354 = stablehlo.pad %353, %cst_112, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %cst_113 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %355 = stablehlo.pad %299, %cst_113, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %356 = stablehlo.add %354, %355 : tensor<6x2xf32>
    %357 = stablehlo.slice %356 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %358 = stablehlo.slice %235 [0:6, 2:4:2] : (tensor<6x4xf32>) -> tensor<6x1xf32>
    %359 = stablehlo.maximum %357, %358 : tensor<6x1xf32>
    %360 = stablehlo.subtract %357, %358 : tensor<6x1xf32>
    %361 = stablehlo.compare NE, %360, %360, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %362 = stablehlo.add %357, %358 : tensor<6x1xf32>
    %363 = stablehlo.abs %360 : tensor<6x1xf32>
    %364 = stablehlo.negate %363 : tensor<6x1xf32>
    %365 = stablehlo.exponential %364 : tensor<6x1xf32>
    %366 = stablehlo.log_plus_one %365 : tensor<6x1xf32>
    %367 = stablehlo.add %359, %366 : tensor<6x1xf32>
    %368 = stablehlo.select %361, %362, %367 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_114 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %370 = stablehlo.compare EQ, %357, %369, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_115 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %371 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %372 = stablehlo.select %370, %371, %357 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_116 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %373 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %374 = stablehlo.compare EQ, %368, %373, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_117 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %376 = stablehlo.select %374, %375, %368 : tensor<6x1xi1>, tensor<6x1xf32>
    %377 = stablehlo.subtract %372, %376 : tensor<6x1xf32>
    %378 = stablehlo.exponential %377 : tensor<6x1xf32>
    %cst_118 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %379 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %380 = stablehlo.compare EQ, %358, %379, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_119 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %382 = stablehlo.select %380, %381, %358 : tensor<6x1xi1>, tensor<6x1xf32>
    %cst_120 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %383 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %384 = stablehlo.compare EQ, %368, %383, FLOAT : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xi1>
    %cst_121 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %386 = stablehlo.select %384, %385, %368 : tensor<6x1xi1>, tensor<6x1xf32>
    %387 = stablehlo.subtract %382, %386 : tensor<6x1xf32>
    %388 = stablehlo.exponential %387 : tensor<6x1xf32>
    %389 = stablehlo.slice %235 [0:6, 0:1] : (tensor<6x4xf32>) -> tensor<6x1xf32>
    %390 = stablehlo.concatenate %389, %368, dim = 1 : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x2xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %391 = stablehlo.pad %390, %cst_122, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %cst_123 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %392 = stablehlo.pad %356, %cst_123, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %393 = stablehlo.add %391, %392 : tensor<6x4xf32>
    %394 = stablehlo.slice %arg0 [0:6, 2:9:2] : (tensor<6x9xf32>) -> tensor<6x4xf32>
    %395 = stablehlo.maximum %393, %394 : tensor<6x4xf32>
    %396 = stablehlo.subtract %393, %394 : tensor<6x4xf32>
    %397 = stablehlo.compare NE, %396, %396, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %398 = stablehlo.add %393, %394 : tensor<6x4xf32>
    %399 = stablehlo.abs %396 : tensor<6x4xf32>
    %400 = stablehlo.negate %399 : tensor<6x4xf32>
    %401 = stablehlo.exponential %400 : tensor<6x4xf32>
    %402 = stablehlo.log_plus_one %401 : tensor<6x4xf32>
    %403 = stablehlo.add %395, %402 : tensor<6x4xf32>
    %404 = stablehlo.select %397, %398, %403 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_124 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %406 = stablehlo.compare EQ, %393, %405, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_125 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %408 = stablehlo.select %406, %407, %393 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_126 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %410 = stablehlo.compare EQ, %404, %409, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_127 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %411 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %412 = stablehlo.select %410, %411, %404 : tensor<6x4xi1>, tensor<6x4xf32>
    %413 = stablehlo.subtract %408, %412 : tensor<6x4xf32>
    %414 = stablehlo.exponential %413 : tensor<6x4xf32>
    %cst_128 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %415 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %416 = stablehlo.compare EQ, %394, %415, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_129 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %418 = stablehlo.select %416, %417, %394 : tensor<6x4xi1>, tensor<6x4xf32>
    %cst_130 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %420 = stablehlo.compare EQ, %404, %419, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
    %cst_131 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %421 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %422 = stablehlo.select %420, %421, %404 : tensor<6x4xi1>, tensor<6x4xf32>
    %423 = stablehlo.subtract %418, %422 : tensor<6x4xf32>
    %424 = stablehlo.exponential %423 : tensor<6x4xf32>
    %425 = stablehlo.slice %arg0 [0:6, 0:1] : (tensor<6x9xf32>) -> tensor<6x1xf32>
    %426 = stablehlo.concatenate %425, %404, dim = 1 : (tensor<6x1xf32>, tensor<6x4xf32>) -> tensor<6x5xf32>
    %cst_132 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %427 = stablehlo.pad %426, %cst_132, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6x9xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %428 = stablehlo.pad %393, %cst_133, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %429 = stablehlo.add %427, %428 : tensor<6x9xf32>
    %430 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %431 = stablehlo.broadcast_in_dim %430, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %432 = stablehlo.multiply %429, %431 : tensor<6x9xf32>
    %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %433 = stablehlo.reduce(%432 init: %cst_134) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x9xf32>, tensor<f32>) -> tensor<f32>
    %cst_135 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<6x9xf32>
    %435 = stablehlo.broadcast_in_dim %430, dims = [0, 1] : (tensor<1x9xf32>) -> tensor<6x9xf32>
    %436 = stablehlo.multiply %434, %435 : tensor<6x9xf32>
    %cst_136 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %437 = stablehlo.pad %436, %cst_136, low = [0, -1], high = [0, -1], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x7xf32>
    %438 = stablehlo.slice %437 [0:6, 0:7:2] : (tensor<6x7xf32>) -> tensor<6x4xf32>
    %cst_137 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %439 = stablehlo.pad %436, %cst_137, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %440 = stablehlo.slice %439 [0:6, 0:9:2] : (tensor<6x9xf32>) -> tensor<6x5xf32>
    %441 = stablehlo.slice %440 [0:6, 0:1] : (tensor<6x5xf32>) -> tensor<6x1xf32>
    %442 = stablehlo.slice %440 [0:6, 1:5] : (tensor<6x5xf32>) -> tensor<6x4xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %443 = stablehlo.pad %441, %cst_138, low = [0, 0], high = [0, 8], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x9xf32>
    %444 = stablehlo.multiply %442, %424 : tensor<6x4xf32>
    %445 = stablehlo.multiply %442, %414 : tensor<6x4xf32>
    %446 = stablehlo.add %438, %445 : tensor<6x4xf32>
    %cst_139 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %447 = stablehlo.pad %444, %cst_139, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %448 = stablehlo.add %443, %447 : tensor<6x9xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %449 = stablehlo.pad %446, %cst_140, low = [0, -1], high = [0, 0], interior = [0, 0] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x3xf32>
    %450 = stablehlo.slice %449 [0:6, 0:3:2] : (tensor<6x3xf32>) -> tensor<6x2xf32>
    %cst_141 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %451 = stablehlo.pad %446, %cst_141, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x3xf32>
    %452 = stablehlo.slice %451 [0:6, 0:3:2] : (tensor<6x3xf32>) -> tensor<6x2xf32>
    %453 = stablehlo.slice %452 [0:6, 0:1] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %454 = stablehlo.slice %452 [0:6, 1:2] : (tensor<6x2xf32>) -> tensor<6x1xf32>
    %cst_142 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %455 = stablehlo.pad %453, %cst_142, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x4xf32>
    %456 = stablehlo.multiply %454, %388 : tensor<6x1xf32>
    %457 = stablehlo.multiply %454, %378 : tensor<6x1xf32>
    %cst_143 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %458 = stablehlo.pad %456, %cst_143, low = [0, 2], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x4xf32>
    %459 = stablehlo.add %455, %458 : tensor<6x4xf32>
    %cst_144 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %460 = stablehlo.pad %457, %cst_144, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %461 = stablehlo.add %450, %460 : tensor<6x2xf32>
    %cst_145 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %462 = stablehlo.pad %461, %cst_145, low = [0, -1], high = [0, 0], interior = [0, 0] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x1xf32>
    %463 = stablehlo.slice %462 [0:6, 0:1:2] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %cst_146 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %464 = stablehlo.pad %461, %cst_146, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x1xf32>
    %465 = stablehlo.slice %464 [0:6, 0:1:2] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %466 = stablehlo.slice %465 [0:6, 0:1] : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %467 = stablehlo.slice %465 [0:6, 1:1] : (tensor<6x1xf32>) -> tensor<6x0xf32>
    %cst_147 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %468 = stablehlo.pad %466, %cst_147, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %469 = stablehlo.multiply %467, %351 : tensor<6x0xf32>
    %470 = stablehlo.multiply %467, %341 : tensor<6x0xf32>
    %cst_148 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %471 = stablehlo.pad %469, %cst_148, low = [0, 2], high = [0, 0], interior = [0, 1] : (tensor<6x0xf32>, tensor<f32>) -> tensor<6x2xf32>
    %472 = stablehlo.add %468, %471 : tensor<6x2xf32>
    %cst_149 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %473 = stablehlo.pad %470, %cst_149, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<6x0xf32>, tensor<f32>) -> tensor<6x1xf32>
    %474 = stablehlo.add %463, %473 : tensor<6x1xf32>
    %475 = stablehlo.multiply %474, %319 : tensor<6x1xf32>
    %476 = stablehlo.multiply %474, %309 : tensor<6x1xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %477 = stablehlo.pad %475, %cst_150, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %478 = stablehlo.add %472, %477 : tensor<6x2xf32>
    %cst_151 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %479 = stablehlo.pad %476, %cst_151, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x2xf32>
    %480 = stablehlo.add %478, %479 : tensor<6x2xf32>
    %481 = stablehlo.multiply %480, %287 : tensor<6x2xf32>
    %482 = stablehlo.multiply %480, %277 : tensor<6x2xf32>
    %cst_152 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %483 = stablehlo.pad %481, %cst_152, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %484 = stablehlo.add %459, %483 : tensor<6x4xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %485 = stablehlo.pad %482, %cst_153, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x4xf32>
    %486 = stablehlo.add %484, %485 : tensor<6x4xf32>
    %487 = stablehlo.multiply %486, %255 : tensor<6x4xf32>
    %488 = stablehlo.multiply %486, %245 : tensor<6x4xf32>
    %cst_154 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %489 = stablehlo.pad %487, %cst_154, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %490 = stablehlo.add %448, %489 : tensor<6x9xf32>
    %cst_155 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %491 = stablehlo.pad %488, %cst_155, low = [0, 0], high = [0, 2], interior = [0, 1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x9xf32>
    %492 = stablehlo.add %490, %491 : tensor<6x9xf32>
    return %11, %20, %223, %492 : tensor<6x9xf32>, tensor<6x9xf32>, tensor<6x9xf32>, tensor<6x9xf32>
  }
  func.func private @cumsum(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<6x9xf32>) -> tensor<6x9xf32>
    return %0 : tensor<6x9xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 9>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    return %1 : tensor<6x9xf32>
  }
  func.func private @cumsum_1(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %0 = call @cumsum_2(%arg0) : (tensor<6x9xf32>) -> tensor<6x9xf32>
    return %0 : tensor<6x9xf32>
  }
  func.func private @cumsum_2(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 8]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 9>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    return %1 : tensor<6x9xf32>
  }
  func.func private @cumprod(%arg0: tensor<6x9xf32>) -> (tensor<6x9xf32>, tensor<3x9xf32>, tensor<3x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<f32>, tensor<f32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<f32>, tensor<f32>) {
    %0 = stablehlo.slice %arg0 [0:5:2, 0:9] : (tensor<6x9xf32>) -> tensor<3x9xf32>
    %1 = stablehlo.slice %arg0 [1:6:2, 0:9] : (tensor<6x9xf32>) -> tensor<3x9xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<3x9xf32>
    %3 = stablehlo.slice %2 [0:2:2, 0:9] : (tensor<3x9xf32>) -> tensor<1x9xf32>
    %4 = stablehlo.slice %2 [1:3:2, 0:9] : (tensor<3x9xf32>) -> tensor<1x9xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<1x9xf32>
    %6 = stablehlo.slice %2 [2:3:2, 0:9] : (tensor<3x9xf32>) -> tensor<1x9xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<1x9xf32>
    %8 = stablehlo.slice %2 [0:1, 0:9] : (tensor<3x9xf32>) -> tensor<1x9xf32>
    %9 = stablehlo.concatenate %8, %7, dim = 0 : (tensor<1x9xf32>, tensor<1x9xf32>) -> tensor<2x9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.pad %9, %cst, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<2x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.pad %5, %cst_0, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %12 = stablehlo.add %10, %11 : tensor<3x9xf32>
    %13 = stablehlo.slice %12 [0:2, 0:9] : (tensor<3x9xf32>) -> tensor<2x9xf32>
    %14 = stablehlo.slice %arg0 [2:6:2, 0:9] : (tensor<6x9xf32>) -> tensor<2x9xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<2x9xf32>
    %16 = stablehlo.slice %arg0 [0:1, 0:9] : (tensor<6x9xf32>) -> tensor<1x9xf32>
    %17 = stablehlo.concatenate %16, %15, dim = 0 : (tensor<1x9xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.pad %17, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %12, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %20 = stablehlo.add %18, %19 : tensor<6x9xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    return %20, %1, %0, %4, %3, %6, %5, %cst_3, %cst_4, %14, %13, %cst_5, %cst_6 : tensor<6x9xf32>, tensor<3x9xf32>, tensor<3x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<1x9xf32>, tensor<f32>, tensor<f32>, tensor<2x9xf32>, tensor<2x9xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @cumprod_3(%arg0: tensor<3x9xf32>, %arg1: tensor<3x9xf32>, %arg2: tensor<1x9xf32>, %arg3: tensor<1x9xf32>, %arg4: tensor<1x9xf32>, %arg5: tensor<1x9xf32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<2x9xf32>, %arg9: tensor<2x9xf32>, %arg10: tensor<f32>, %arg11: tensor<f32>, %arg12: tensor<6x9xf32>) -> tensor<6x9xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg12, %cst, low = [-1, 0], high = [0, 0], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<5x9xf32>
    %1 = stablehlo.slice %0 [0:5:2, 0:9] : (tensor<5x9xf32>) -> tensor<3x9xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %arg12, %cst_0, low = [0, 0], high = [-1, 0], interior = [0, 0] : (tensor<6x9xf32>, tensor<f32>) -> tensor<5x9xf32>
    %3 = stablehlo.slice %2 [0:5:2, 0:9] : (tensor<5x9xf32>) -> tensor<3x9xf32>
    %4 = stablehlo.slice %3 [0:1, 0:9] : (tensor<3x9xf32>) -> tensor<1x9xf32>
    %5 = stablehlo.slice %3 [1:3, 0:9] : (tensor<3x9xf32>) -> tensor<2x9xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.pad %4, %cst_1, low = [0, 0], high = [5, 0], interior = [0, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %7 = stablehlo.multiply %arg9, %5 : tensor<2x9xf32>
    %8 = stablehlo.multiply %5, %arg8 : tensor<2x9xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.pad %7, %cst_2, low = [2, 0], high = [1, 0], interior = [1, 0] : (tensor<2x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %10 = stablehlo.add %6, %9 : tensor<6x9xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.pad %8, %cst_3, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<2x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %12 = stablehlo.add %1, %11 : tensor<3x9xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.pad %12, %cst_4, low = [-1, 0], high = [-1, 0], interior = [0, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<1x9xf32>
    %14 = stablehlo.slice %13 [0:1:2, 0:9] : (tensor<1x9xf32>) -> tensor<1x9xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %12, %cst_5, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %16 = stablehlo.slice %15 [0:3:2, 0:9] : (tensor<3x9xf32>) -> tensor<2x9xf32>
    %17 = stablehlo.slice %16 [0:1, 0:9] : (tensor<2x9xf32>) -> tensor<1x9xf32>
    %18 = stablehlo.slice %16 [1:2, 0:9] : (tensor<2x9xf32>) -> tensor<1x9xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %17, %cst_6, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %20 = stablehlo.multiply %arg5, %18 : tensor<1x9xf32>
    %21 = stablehlo.multiply %18, %arg4 : tensor<1x9xf32>
    %22 = stablehlo.add %14, %21 : tensor<1x9xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %20, %cst_7, low = [2, 0], high = [0, 0], interior = [1, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %24 = stablehlo.add %19, %23 : tensor<3x9xf32>
    %25 = stablehlo.multiply %arg3, %22 : tensor<1x9xf32>
    %26 = stablehlo.multiply %22, %arg2 : tensor<1x9xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.pad %25, %cst_8, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %28 = stablehlo.add %24, %27 : tensor<3x9xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.pad %26, %cst_9, low = [0, 0], high = [2, 0], interior = [1, 0] : (tensor<1x9xf32>, tensor<f32>) -> tensor<3x9xf32>
    %30 = stablehlo.add %28, %29 : tensor<3x9xf32>
    %31 = stablehlo.multiply %arg1, %30 : tensor<3x9xf32>
    %32 = stablehlo.multiply %30, %arg0 : tensor<3x9xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.pad %31, %cst_10, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %34 = stablehlo.add %10, %33 : tensor<6x9xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.pad %32, %cst_11, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<6x9xf32>
    %36 = stablehlo.add %34, %35 : tensor<6x9xf32>
    return %36 : tensor<6x9xf32>
  }
}
