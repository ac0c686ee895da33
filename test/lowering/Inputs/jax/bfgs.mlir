module @jit_bfgs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %1 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %3 = stablehlo.add %0, %2 : tensor<3x3xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %5 = stablehlo.convert %4 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %6 = stablehlo.iota dim = 0 : tensor<3xf32>
    %7 = stablehlo.subtract %arg0, %6 : tensor<3xf32>
    %8 = stablehlo.multiply %7, %7 : tensor<3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %10 = stablehlo.multiply %9, %7 : tensor<3xf32>
    %11 = stablehlo.iota dim = 0 : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.add %12, %11 : tensor<3xf32>
    %14 = stablehlo.multiply %8, %13 : tensor<3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %17 = stablehlo.multiply %16, %13 : tensor<3xf32>
    %18 = stablehlo.multiply %17, %10 : tensor<3xf32>
    %19 = call @norm(%18) : (tensor<3xf32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %20 = stablehlo.compare LT, %19, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %21 = call @norm_0(%18) : (tensor<3xf32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_4 : tensor<f32>
    %23 = stablehlo.add %15, %22 : tensor<f32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<false> : tensor<i1>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %c_9 = stablehlo.constant dense<1> : tensor<i32>
    %c_10 = stablehlo.constant dense<1> : tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %24:13 = stablehlo.while(%iterArg = %c_5, %iterArg_17 = %c_6, %iterArg_18 = %20, %iterArg_19 = %c_7, %iterArg_20 = %c_8, %iterArg_21 = %c_9, %iterArg_22 = %c_10, %iterArg_23 = %arg0, %iterArg_24 = %15, %iterArg_25 = %18, %iterArg_26 = %5, %iterArg_27 = %23, %iterArg_28 = %c_11) : tensor<i32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<i32>
    cond {
      %32 = stablehlo.not %iterArg_18 : tensor<i1>
      %33 = stablehlo.not %iterArg_19 : tensor<i1>
      %34 = stablehlo.and %32, %33 : tensor<i1>
      %c_29 = stablehlo.constant dense<3> : tensor<i32>
      %35 = stablehlo.compare LT, %iterArg_20, %c_29, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_30 = stablehlo.constant dense<false> : tensor<i1>
      %36 = stablehlo.broadcast_in_dim %c_30, dims = [] : (tensor<i1>) -> tensor<i1>
      %37 = stablehlo.compare NE, %35, %36, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %38 = stablehlo.convert %37 : tensor<i1>
      %39 = stablehlo.and %34, %38 : tensor<i1>
      stablehlo.return %39 : tensor<i1>
    } do {
      %32 = stablehlo.dot_general %iterArg_26, %iterArg_25, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %33 = stablehlo.negate %32 : tensor<3xf32>
      %34 = stablehlo.dot_general %iterArg_25, %33, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
      %35 = stablehlo.subtract %iterArg_24, %iterArg_27 : tensor<f32>
      %cst_29 = stablehlo.constant dense<2.020000e+00> : tensor<f32>
      %36 = stablehlo.multiply %cst_29, %35 : tensor<f32>
      %37 = stablehlo.divide %36, %34 : tensor<f32>
      %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %38 = stablehlo.compare GT, %37, %cst_30, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %39 = func.call @_where(%38, %cst_31, %37) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %c_32 = stablehlo.constant dense<false> : tensor<i1>
      %c_33 = stablehlo.constant dense<false> : tensor<i1>
      %c_34 = stablehlo.constant dense<1> : tensor<i32>
      %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %40:18 = stablehlo.while(%iterArg_51 = %39, %iterArg_52 = %33, %iterArg_53 = %iterArg_23, %iterArg_54 = %34, %iterArg_55 = %iterArg_24, %iterArg_56 = %iterArg_25, %iterArg_57 = %c_32, %iterArg_58 = %c_33, %iterArg_59 = %c_34, %iterArg_60 = %cst_35, %iterArg_61 = %iterArg_24, %iterArg_62 = %34, %iterArg_63 = %c_36, %iterArg_64 = %c_37, %iterArg_65 = %cst_38, %iterArg_66 = %iterArg_24, %iterArg_67 = %34, %iterArg_68 = %iterArg_25) : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>
      cond {
        %91 = stablehlo.not %iterArg_57 : tensor<i1>
        %c_69 = stablehlo.constant dense<10> : tensor<i32>
        %92 = stablehlo.compare LE, %iterArg_59, %c_69, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_70 = stablehlo.constant dense<false> : tensor<i1>
        %93 = stablehlo.broadcast_in_dim %c_70, dims = [] : (tensor<i1>) -> tensor<i1>
        %94 = stablehlo.compare NE, %92, %93, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %95 = stablehlo.convert %94 : tensor<i1>
        %96 = stablehlo.and %91, %95 : tensor<i1>
        %97 = stablehlo.not %iterArg_58 : tensor<i1>
        %98 = stablehlo.and %96, %97 : tensor<i1>
        stablehlo.return %98 : tensor<i1>
      } do {
        %c_69 = stablehlo.constant dense<1> : tensor<i32>
        %91 = stablehlo.compare EQ, %iterArg_59, %c_69, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %cst_70 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %92 = stablehlo.multiply %iterArg_60, %cst_70 : tensor<f32>
        %93 = func.call @_where_1(%91, %iterArg_51, %92) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %94 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %95 = stablehlo.multiply %94, %iterArg_52 : tensor<3xf32>
        %96 = stablehlo.add %iterArg_53, %95 : tensor<3xf32>
        %97 = stablehlo.iota dim = 0 : tensor<3xf32>
        %98 = stablehlo.subtract %96, %97 : tensor<3xf32>
        %99 = stablehlo.multiply %98, %98 : tensor<3xf32>
        %cst_71 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %100 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %101 = stablehlo.multiply %100, %98 : tensor<3xf32>
        %102 = stablehlo.iota dim = 0 : tensor<3xf32>
        %cst_72 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %103 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %104 = stablehlo.add %103, %102 : tensor<3xf32>
        %105 = stablehlo.multiply %99, %104 : tensor<3xf32>
        %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %106 = stablehlo.reduce(%105 init: %cst_73) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
        %cst_74 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %107 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %108 = stablehlo.multiply %107, %104 : tensor<3xf32>
        %109 = stablehlo.multiply %108, %101 : tensor<3xf32>
        %110 = stablehlo.dot_general %109, %iterArg_52, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
        %c_75 = stablehlo.constant dense<1> : tensor<i32>
        %111 = stablehlo.add %iterArg_63, %c_75 : tensor<i32>
        %c_76 = stablehlo.constant dense<1> : tensor<i32>
        %112 = stablehlo.add %iterArg_64, %c_76 : tensor<i32>
        %cst_77 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
        %113 = stablehlo.multiply %cst_77, %93 : tensor<f32>
        %114 = stablehlo.multiply %113, %iterArg_54 : tensor<f32>
        %115 = stablehlo.add %iterArg_55, %114 : tensor<f32>
        %116 = stablehlo.compare GT, %106, %115, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %117 = stablehlo.compare GE, %106, %iterArg_61, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %c_78 = stablehlo.constant dense<1> : tensor<i32>
        %118 = stablehlo.compare GT, %iterArg_59, %c_78, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_79 = stablehlo.constant dense<false> : tensor<i1>
        %119 = stablehlo.broadcast_in_dim %c_79, dims = [] : (tensor<i1>) -> tensor<i1>
        %120 = stablehlo.compare NE, %118, %119, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %121 = stablehlo.convert %120 : tensor<i1>
        %122 = stablehlo.and %117, %121 : tensor<i1>
        %123 = stablehlo.or %116, %122 : tensor<i1>
        %124 = stablehlo.abs %110 : tensor<f32>
        %cst_80 = stablehlo.constant dense<-0.899999976> : tensor<f32>
        %125 = stablehlo.multiply %cst_80, %iterArg_54 : tensor<f32>
        %126 = stablehlo.compare LE, %124, %125, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %127 = stablehlo.not %123 : tensor<i1>
        %128 = stablehlo.and %126, %127 : tensor<i1>
        %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %129 = stablehlo.compare GE, %110, %cst_81, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %130 = stablehlo.not %123 : tensor<i1>
        %131 = stablehlo.and %129, %130 : tensor<i1>
        %132 = stablehlo.not %128 : tensor<i1>
        %133 = stablehlo.and %131, %132 : tensor<i1>
        %134 = stablehlo.not %123 : tensor<i1>
        %135 = stablehlo.convert %iterArg_60 : tensor<f32>
        %136 = stablehlo.add %135, %93 : tensor<f32>
        %cst_82 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %137 = stablehlo.divide %136, %cst_82 : tensor<f32>
        %138 = stablehlo.add %iterArg_61, %106 : tensor<f32>
        %cst_83 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %139 = stablehlo.divide %138, %cst_83 : tensor<f32>
        %c_84 = stablehlo.constant dense<false> : tensor<i1>
        %c_85 = stablehlo.constant dense<false> : tensor<i1>
        %c_86 = stablehlo.constant dense<0> : tensor<i32>
        %cst_87 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %c_88 = stablehlo.constant dense<0> : tensor<i32>
        %c_89 = stablehlo.constant dense<0> : tensor<i32>
        %140:22 = stablehlo.while(%iterArg_99 = %134, %iterArg_100 = %iterArg_52, %iterArg_101 = %iterArg_53, %iterArg_102 = %iterArg_54, %iterArg_103 = %iterArg_55, %iterArg_104 = %c_84, %iterArg_105 = %c_85, %iterArg_106 = %c_86, %iterArg_107 = %iterArg_60, %iterArg_108 = %iterArg_61, %iterArg_109 = %iterArg_62, %iterArg_110 = %93, %iterArg_111 = %106, %iterArg_112 = %110, %iterArg_113 = %137, %iterArg_114 = %139, %iterArg_115 = %cst_87, %iterArg_116 = %iterArg_61, %iterArg_117 = %iterArg_62, %iterArg_118 = %iterArg_56, %iterArg_119 = %c_88, %iterArg_120 = %c_89) : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i32>, tensor<i32>
        cond {
          %172 = stablehlo.not %iterArg_104 : tensor<i1>
          %173 = stablehlo.not %iterArg_99 : tensor<i1>
          %174 = stablehlo.and %172, %173 : tensor<i1>
          %175 = stablehlo.not %iterArg_105 : tensor<i1>
          %176 = stablehlo.and %174, %175 : tensor<i1>
          stablehlo.return %176 : tensor<i1>
        } do {
          %172 = stablehlo.convert %iterArg_107 : tensor<f32>
          %173 = stablehlo.subtract %iterArg_110, %172 : tensor<f32>
          %174 = stablehlo.convert %iterArg_107 : tensor<f32>
          %175 = stablehlo.minimum %iterArg_110, %174 : tensor<f32>
          %176 = stablehlo.convert %iterArg_107 : tensor<f32>
          %177 = stablehlo.maximum %iterArg_110, %176 : tensor<f32>
          %cst_121 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
          %178 = stablehlo.multiply %cst_121, %173 : tensor<f32>
          %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
          %179 = stablehlo.multiply %cst_122, %173 : tensor<f32>
          %c_123 = stablehlo.constant dense<true> : tensor<i1>
          %cst_124 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
          %cst_125 = stablehlo.constant dense<1.000000e-10> : tensor<f32>
          %180 = func.call @_where_2(%c_123, %cst_124, %cst_125) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %181 = stablehlo.convert %180 : tensor<f32>
          %182 = stablehlo.compare LE, %173, %181, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %183 = stablehlo.or %iterArg_105, %182 : tensor<i1>
          %184 = stablehlo.convert %iterArg_107 : tensor<f32>
          %185 = stablehlo.subtract %iterArg_110, %184 : tensor<f32>
          %186 = stablehlo.convert %iterArg_107 : tensor<f32>
          %187 = stablehlo.subtract %iterArg_113, %186 : tensor<f32>
          %188 = stablehlo.multiply %185, %187 : tensor<f32>
          %189 = stablehlo.multiply %188, %188 : tensor<f32>
          %190 = stablehlo.subtract %185, %187 : tensor<f32>
          %191 = stablehlo.multiply %189, %190 : tensor<f32>
          %192 = stablehlo.multiply %187, %187 : tensor<f32>
          %193 = stablehlo.multiply %185, %185 : tensor<f32>
          %194 = stablehlo.negate %193 : tensor<f32>
          %195 = stablehlo.multiply %187, %187 : tensor<f32>
          %196 = stablehlo.multiply %195, %187 : tensor<f32>
          %197 = stablehlo.negate %196 : tensor<f32>
          %198 = stablehlo.multiply %185, %185 : tensor<f32>
          %199 = stablehlo.multiply %198, %185 : tensor<f32>
          %200 = stablehlo.broadcast_in_dim %192, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %201 = stablehlo.broadcast_in_dim %194, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %202 = stablehlo.concatenate %200, %201, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %203 = stablehlo.broadcast_in_dim %202, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
          %204 = stablehlo.broadcast_in_dim %197, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %205 = stablehlo.broadcast_in_dim %199, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %206 = stablehlo.concatenate %204, %205, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %207 = stablehlo.broadcast_in_dim %206, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
          %208 = stablehlo.concatenate %203, %207, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
          %209 = stablehlo.subtract %iterArg_111, %iterArg_108 : tensor<f32>
          %210 = stablehlo.multiply %iterArg_109, %185 : tensor<f32>
          %211 = stablehlo.subtract %209, %210 : tensor<f32>
          %212 = stablehlo.subtract %iterArg_114, %iterArg_108 : tensor<f32>
          %213 = stablehlo.multiply %iterArg_109, %187 : tensor<f32>
          %214 = stablehlo.subtract %212, %213 : tensor<f32>
          %215 = stablehlo.broadcast_in_dim %211, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %216 = stablehlo.broadcast_in_dim %214, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %217 = stablehlo.concatenate %215, %216, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %218 = stablehlo.dot_general %208, %217, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %219 = stablehlo.broadcast_in_dim %191, dims = [] : (tensor<f32>) -> tensor<2xf32>
          %220 = stablehlo.divide %218, %219 : tensor<2xf32>
          %221 = stablehlo.slice %220 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
          %222 = stablehlo.reshape %221 : (tensor<1xf32>) -> tensor<f32>
          %223 = stablehlo.slice %220 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
          %224 = stablehlo.reshape %223 : (tensor<1xf32>) -> tensor<f32>
          %225 = stablehlo.multiply %224, %224 : tensor<f32>
          %cst_126 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %226 = stablehlo.multiply %cst_126, %222 : tensor<f32>
          %227 = stablehlo.multiply %226, %iterArg_109 : tensor<f32>
          %228 = stablehlo.subtract %225, %227 : tensor<f32>
          %229 = stablehlo.negate %224 : tensor<f32>
          %230 = stablehlo.sqrt %228 : tensor<f32>
          %231 = stablehlo.add %229, %230 : tensor<f32>
          %cst_127 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %232 = stablehlo.multiply %cst_127, %222 : tensor<f32>
          %233 = stablehlo.divide %231, %232 : tensor<f32>
          %234 = stablehlo.convert %iterArg_107 : tensor<f32>
          %235 = stablehlo.add %234, %233 : tensor<f32>
          %c_128 = stablehlo.constant dense<0> : tensor<i32>
          %236 = stablehlo.compare GT, %iterArg_106, %c_128, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %237 = stablehlo.add %175, %178 : tensor<f32>
          %238 = stablehlo.compare GT, %235, %237, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %c_129 = stablehlo.constant dense<false> : tensor<i1>
          %239 = stablehlo.broadcast_in_dim %c_129, dims = [] : (tensor<i1>) -> tensor<i1>
          %240 = stablehlo.compare NE, %236, %239, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
          %241 = stablehlo.convert %240 : tensor<i1>
          %242 = stablehlo.and %241, %238 : tensor<i1>
          %243 = stablehlo.subtract %177, %178 : tensor<f32>
          %244 = stablehlo.compare LT, %235, %243, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %245 = stablehlo.and %242, %244 : tensor<i1>
          %246 = stablehlo.convert %iterArg_107 : tensor<f32>
          %247 = stablehlo.subtract %iterArg_110, %246 : tensor<f32>
          %248 = stablehlo.subtract %iterArg_111, %iterArg_108 : tensor<f32>
          %249 = stablehlo.multiply %iterArg_109, %247 : tensor<f32>
          %250 = stablehlo.subtract %248, %249 : tensor<f32>
          %251 = stablehlo.multiply %247, %247 : tensor<f32>
          %252 = stablehlo.divide %250, %251 : tensor<f32>
          %cst_130 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %253 = stablehlo.multiply %cst_130, %252 : tensor<f32>
          %254 = stablehlo.divide %iterArg_109, %253 : tensor<f32>
          %255 = stablehlo.convert %iterArg_107 : tensor<f32>
          %256 = stablehlo.subtract %255, %254 : tensor<f32>
          %257 = stablehlo.not %245 : tensor<i1>
          %258 = stablehlo.add %175, %179 : tensor<f32>
          %259 = stablehlo.compare GT, %256, %258, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %260 = stablehlo.and %257, %259 : tensor<i1>
          %261 = stablehlo.subtract %177, %179 : tensor<f32>
          %262 = stablehlo.compare LT, %256, %261, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %263 = stablehlo.and %260, %262 : tensor<i1>
          %264 = stablehlo.convert %iterArg_107 : tensor<f32>
          %265 = stablehlo.add %264, %iterArg_110 : tensor<f32>
          %cst_131 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %266 = stablehlo.divide %265, %cst_131 : tensor<f32>
          %267 = stablehlo.not %245 : tensor<i1>
          %268 = stablehlo.not %263 : tensor<i1>
          %269 = stablehlo.and %267, %268 : tensor<i1>
          %270 = func.call @_where_3(%245, %235, %iterArg_113) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %271 = func.call @_where_3(%263, %256, %270) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %272 = func.call @_where_3(%269, %266, %271) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %273 = stablehlo.broadcast_in_dim %272, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %274 = stablehlo.multiply %273, %iterArg_100 : tensor<3xf32>
          %275 = stablehlo.add %iterArg_101, %274 : tensor<3xf32>
          %276 = stablehlo.iota dim = 0 : tensor<3xf32>
          %277 = stablehlo.subtract %275, %276 : tensor<3xf32>
          %278 = stablehlo.multiply %277, %277 : tensor<3xf32>
          %cst_132 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %279 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %280 = stablehlo.multiply %279, %277 : tensor<3xf32>
          %281 = stablehlo.iota dim = 0 : tensor<3xf32>
          %cst_133 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %282 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %283 = stablehlo.add %282, %281 : tensor<3xf32>
          %284 = stablehlo.multiply %278, %283 : tensor<3xf32>
          %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %285 = stablehlo.reduce(%284 init: %cst_134) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
          %cst_135 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %286 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %287 = stablehlo.multiply %286, %283 : tensor<3xf32>
          %288 = stablehlo.multiply %287, %280 : tensor<3xf32>
          %289 = stablehlo.dot_general %288, %iterArg_100, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
          %c_136 = stablehlo.constant dense<1> : tensor<i32>
          %290 = stablehlo.add %iterArg_119, %c_136 : tensor<i32>
          %c_137 = stablehlo.constant dense<1> : tensor<i32>
          %291 = stablehlo.add %iterArg_120, %c_137 : tensor<i32>
          %cst_138 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
          %292 = stablehlo.multiply %cst_138, %272 : tensor<f32>
          %293 = stablehlo.multiply %292, %iterArg_102 : tensor<f32>
          %294 = stablehlo.add %iterArg_103, %293 : tensor<f32>
          %295 = stablehlo.compare GT, %285, %294, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %296 = stablehlo.compare GE, %285, %iterArg_108, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %297 = stablehlo.or %295, %296 : tensor<i1>
          %298 = stablehlo.abs %289 : tensor<f32>
          %cst_139 = stablehlo.constant dense<-0.899999976> : tensor<f32>
          %299 = stablehlo.multiply %cst_139, %iterArg_102 : tensor<f32>
          %300 = stablehlo.compare LE, %298, %299, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %301 = stablehlo.not %297 : tensor<i1>
          %302 = stablehlo.and %300, %301 : tensor<i1>
          %303 = stablehlo.convert %iterArg_107 : tensor<f32>
          %304 = stablehlo.subtract %iterArg_110, %303 : tensor<f32>
          %305 = stablehlo.multiply %289, %304 : tensor<f32>
          %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %306 = stablehlo.compare GE, %305, %cst_140, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %307 = stablehlo.not %297 : tensor<i1>
          %308 = stablehlo.and %306, %307 : tensor<i1>
          %309 = stablehlo.not %302 : tensor<i1>
          %310 = stablehlo.and %308, %309 : tensor<i1>
          %311 = stablehlo.not %297 : tensor<i1>
          %312 = stablehlo.not %302 : tensor<i1>
          %313 = stablehlo.and %311, %312 : tensor<i1>
          %314 = func.call @_where_3(%297, %272, %iterArg_110) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %315 = func.call @_where_3(%297, %285, %iterArg_111) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %316 = func.call @_where_3(%297, %289, %iterArg_112) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %317 = func.call @_where_3(%297, %iterArg_110, %iterArg_113) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %318 = func.call @_where_3(%297, %iterArg_111, %iterArg_114) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %319 = stablehlo.or %302, %iterArg_104 : tensor<i1>
          %320 = func.call @_where_4(%302, %272, %iterArg_115) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %321 = func.call @_where_3(%302, %285, %iterArg_116) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %322 = func.call @_where_3(%302, %289, %iterArg_117) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %323 = func.call @_where_5(%302, %288, %iterArg_118) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          %324 = func.call @_where(%310, %iterArg_107, %314) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %325 = func.call @_where_3(%310, %iterArg_108, %315) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %326 = func.call @_where_3(%310, %iterArg_109, %316) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %327 = func.call @_where_3(%310, %314, %317) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %328 = func.call @_where_3(%310, %315, %318) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %329 = stablehlo.not %310 : tensor<i1>
          %330 = stablehlo.and %313, %329 : tensor<i1>
          %331 = func.call @_where(%330, %iterArg_107, %327) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %332 = func.call @_where_3(%330, %iterArg_108, %328) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %333 = func.call @_where_4(%313, %272, %iterArg_107) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %334 = func.call @_where_3(%313, %285, %iterArg_108) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %335 = func.call @_where_3(%313, %289, %iterArg_109) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %c_141 = stablehlo.constant dense<1> : tensor<i32>
          %336 = stablehlo.add %iterArg_106, %c_141 : tensor<i32>
          %c_142 = stablehlo.constant dense<30> : tensor<i32>
          %337 = stablehlo.compare GE, %336, %c_142, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %c_143 = stablehlo.constant dense<false> : tensor<i1>
          %338 = stablehlo.broadcast_in_dim %c_143, dims = [] : (tensor<i1>) -> tensor<i1>
          %339 = stablehlo.compare NE, %337, %338, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
          %340 = stablehlo.convert %339 : tensor<i1>
          %341 = stablehlo.or %183, %340 : tensor<i1>
          stablehlo.return %iterArg_99, %iterArg_100, %iterArg_101, %iterArg_102, %iterArg_103, %319, %341, %336, %333, %334, %335, %324, %325, %326, %331, %332, %320, %321, %322, %323, %290, %291 : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i32>, tensor<i32>
        }
        %141 = stablehlo.add %111, %140#20 : tensor<i32>
        %142 = stablehlo.add %112, %140#21 : tensor<i32>
        %143 = stablehlo.not %133 : tensor<i1>
        %144 = stablehlo.convert %iterArg_60 : tensor<f32>
        %145 = stablehlo.add %93, %144 : tensor<f32>
        %cst_90 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %146 = stablehlo.divide %145, %cst_90 : tensor<f32>
        %147 = stablehlo.add %106, %iterArg_61 : tensor<f32>
        %cst_91 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %148 = stablehlo.divide %147, %cst_91 : tensor<f32>
        %c_92 = stablehlo.constant dense<false> : tensor<i1>
        %c_93 = stablehlo.constant dense<false> : tensor<i1>
        %c_94 = stablehlo.constant dense<0> : tensor<i32>
        %cst_95 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %c_96 = stablehlo.constant dense<0> : tensor<i32>
        %c_97 = stablehlo.constant dense<0> : tensor<i32>
        %149:22 = stablehlo.while(%iterArg_99 = %143, %iterArg_100 = %iterArg_52, %iterArg_101 = %iterArg_53, %iterArg_102 = %iterArg_54, %iterArg_103 = %iterArg_55, %iterArg_104 = %c_92, %iterArg_105 = %c_93, %iterArg_106 = %c_94, %iterArg_107 = %93, %iterArg_108 = %106, %iterArg_109 = %110, %iterArg_110 = %iterArg_60, %iterArg_111 = %iterArg_61, %iterArg_112 = %iterArg_62, %iterArg_113 = %146, %iterArg_114 = %148, %iterArg_115 = %cst_95, %iterArg_116 = %106, %iterArg_117 = %110, %iterArg_118 = %iterArg_56, %iterArg_119 = %c_96, %iterArg_120 = %c_97) : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i32>, tensor<i32>
        cond {
          %172 = stablehlo.not %iterArg_104 : tensor<i1>
          %173 = stablehlo.not %iterArg_99 : tensor<i1>
          %174 = stablehlo.and %172, %173 : tensor<i1>
          %175 = stablehlo.not %iterArg_105 : tensor<i1>
          %176 = stablehlo.and %174, %175 : tensor<i1>
          stablehlo.return %176 : tensor<i1>
        } do {
          %172 = stablehlo.convert %iterArg_110 : tensor<f32>
          %173 = stablehlo.subtract %172, %iterArg_107 : tensor<f32>
          %174 = stablehlo.convert %iterArg_110 : tensor<f32>
          %175 = stablehlo.minimum %174, %iterArg_107 : tensor<f32>
          %176 = stablehlo.convert %iterArg_110 : tensor<f32>
          %177 = stablehlo.maximum %176, %iterArg_107 : tensor<f32>
          %cst_121 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
          %178 = stablehlo.multiply %cst_121, %173 : tensor<f32>
          %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
          %179 = stablehlo.multiply %cst_122, %173 : tensor<f32>
          %c_123 = stablehlo.constant dense<true> : tensor<i1>
          %cst_124 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
          %cst_125 = stablehlo.constant dense<1.000000e-10> : tensor<f32>
          %180 = func.call @_where_2(%c_123, %cst_124, %cst_125) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %181 = stablehlo.convert %180 : tensor<f32>
          %182 = stablehlo.compare LE, %173, %181, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %183 = stablehlo.or %iterArg_105, %182 : tensor<i1>
          %184 = stablehlo.convert %iterArg_110 : tensor<f32>
          %185 = stablehlo.subtract %184, %iterArg_107 : tensor<f32>
          %186 = stablehlo.subtract %iterArg_113, %iterArg_107 : tensor<f32>
          %187 = stablehlo.multiply %185, %186 : tensor<f32>
          %188 = stablehlo.multiply %187, %187 : tensor<f32>
          %189 = stablehlo.subtract %185, %186 : tensor<f32>
          %190 = stablehlo.multiply %188, %189 : tensor<f32>
          %191 = stablehlo.multiply %186, %186 : tensor<f32>
          %192 = stablehlo.multiply %185, %185 : tensor<f32>
          %193 = stablehlo.negate %192 : tensor<f32>
          %194 = stablehlo.multiply %186, %186 : tensor<f32>
          %195 = stablehlo.multiply %194, %186 : tensor<f32>
          %196 = stablehlo.negate %195 : tensor<f32>
          %197 = stablehlo.multiply %185, %185 : tensor<f32>
          %198 = stablehlo.multiply %197, %185 : tensor<f32>
          %199 = stablehlo.broadcast_in_dim %191, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %200 = stablehlo.broadcast_in_dim %193, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %201 = stablehlo.concatenate %199, %200, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %202 = stablehlo.broadcast_in_dim %201, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
          %203 = stablehlo.broadcast_in_dim %196, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %204 = stablehlo.broadcast_in_dim %198, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %205 = stablehlo.concatenate %203, %204, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %206 = stablehlo.broadcast_in_dim %205, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
          %207 = stablehlo.concatenate %202, %206, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
          %208 = stablehlo.subtract %iterArg_111, %iterArg_108 : tensor<f32>
          %209 = stablehlo.multiply %iterArg_109, %185 : tensor<f32>
          %210 = stablehlo.subtract %208, %209 : tensor<f32>
          %211 = stablehlo.subtract %iterArg_114, %iterArg_108 : tensor<f32>
          %212 = stablehlo.multiply %iterArg_109, %186 : tensor<f32>
          %213 = stablehlo.subtract %211, %212 : tensor<f32>
          %214 = stablehlo.broadcast_in_dim %210, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %215 = stablehlo.broadcast_in_dim %213, dims = [] : (tensor<f32>) -> tensor<1xf32>
          %216 = stablehlo.concatenate %214, %215, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
          %217 = stablehlo.dot_general %207, %216, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %218 = stablehlo.broadcast_in_dim %190, dims = [] : (tensor<f32>) -> tensor<2xf32>
          %219 = stablehlo.divide %217, %218 : tensor<2xf32>
          %220 = stablehlo.slice %219 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
          %221 = stablehlo.reshape %220 : (tensor<1xf32>) -> tensor<f32>
          %222 = stablehlo.slice %219 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
          %223 = stablehlo.reshape %222 : (tensor<1xf32>) -> tensor<f32>
          %224 = stablehlo.multiply %223, %223 : tensor<f32>
          %cst_126 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %225 = stablehlo.multiply %cst_126, %221 : tensor<f32>
          %226 = stablehlo.multiply %225, %iterArg_109 : tensor<f32>
          %227 = stablehlo.subtract %224, %226 : tensor<f32>
          %228 = stablehlo.negate %223 : tensor<f32>
          %229 = stablehlo.sqrt %227 : tensor<f32>
          %230 = stablehlo.add %228, %229 : tensor<f32>
          %cst_127 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %231 = stablehlo.multiply %cst_127, %221 : tensor<f32>
          %232 = stablehlo.divide %230, %231 : tensor<f32>
          %233 = stablehlo.add %iterArg_107, %232 : tensor<f32>
          %c_128 = stablehlo.constant dense<0> : tensor<i32>
          %234 = stablehlo.compare GT, %iterArg_106, %c_128, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %235 = stablehlo.add %175, %178 : tensor<f32>
          %236 = stablehlo.compare GT, %233, %235, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %c_129 = stablehlo.constant dense<false> : tensor<i1>
          %237 = stablehlo.broadcast_in_dim %c_129, dims = [] : (tensor<i1>) -> tensor<i1>
          %238 = stablehlo.compare NE, %234, %237, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
          %239 = stablehlo.convert %238 : tensor<i1>
          %240 = stablehlo.and %239, %236 : tensor<i1>
          %241 = stablehlo.subtract %177, %178 : tensor<f32>
          %242 = stablehlo.compare LT, %233, %241, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %243 = stablehlo.and %240, %242 : tensor<i1>
          %244 = stablehlo.convert %iterArg_110 : tensor<f32>
          %245 = stablehlo.subtract %244, %iterArg_107 : tensor<f32>
          %246 = stablehlo.subtract %iterArg_111, %iterArg_108 : tensor<f32>
          %247 = stablehlo.multiply %iterArg_109, %245 : tensor<f32>
          %248 = stablehlo.subtract %246, %247 : tensor<f32>
          %249 = stablehlo.multiply %245, %245 : tensor<f32>
          %250 = stablehlo.divide %248, %249 : tensor<f32>
          %cst_130 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %251 = stablehlo.multiply %cst_130, %250 : tensor<f32>
          %252 = stablehlo.divide %iterArg_109, %251 : tensor<f32>
          %253 = stablehlo.subtract %iterArg_107, %252 : tensor<f32>
          %254 = stablehlo.not %243 : tensor<i1>
          %255 = stablehlo.add %175, %179 : tensor<f32>
          %256 = stablehlo.compare GT, %253, %255, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %257 = stablehlo.and %254, %256 : tensor<i1>
          %258 = stablehlo.subtract %177, %179 : tensor<f32>
          %259 = stablehlo.compare LT, %253, %258, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %260 = stablehlo.and %257, %259 : tensor<i1>
          %261 = stablehlo.convert %iterArg_110 : tensor<f32>
          %262 = stablehlo.add %iterArg_107, %261 : tensor<f32>
          %cst_131 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %263 = stablehlo.divide %262, %cst_131 : tensor<f32>
          %264 = stablehlo.not %243 : tensor<i1>
          %265 = stablehlo.not %260 : tensor<i1>
          %266 = stablehlo.and %264, %265 : tensor<i1>
          %267 = func.call @_where_3(%243, %233, %iterArg_113) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %268 = func.call @_where_3(%260, %253, %267) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %269 = func.call @_where_3(%266, %263, %268) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %270 = stablehlo.broadcast_in_dim %269, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %271 = stablehlo.multiply %270, %iterArg_100 : tensor<3xf32>
          %272 = stablehlo.add %iterArg_101, %271 : tensor<3xf32>
          %273 = stablehlo.iota dim = 0 : tensor<3xf32>
          %274 = stablehlo.subtract %272, %273 : tensor<3xf32>
          %275 = stablehlo.multiply %274, %274 : tensor<3xf32>
          %cst_132 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
          %276 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %277 = stablehlo.multiply %276, %274 : tensor<3xf32>
          %278 = stablehlo.iota dim = 0 : tensor<3xf32>
          %cst_133 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %279 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %280 = stablehlo.add %279, %278 : tensor<3xf32>
          %281 = stablehlo.multiply %275, %280 : tensor<3xf32>
          %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %282 = stablehlo.reduce(%281 init: %cst_134) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
          %cst_135 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %283 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<3xf32>
          %284 = stablehlo.multiply %283, %280 : tensor<3xf32>
          %285 = stablehlo.multiply %284, %277 : tensor<3xf32>
          %286 = stablehlo.dot_general %285, %iterArg_100, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
          %c_136 = stablehlo.constant dense<1> : tensor<i32>
          %287 = stablehlo.add %iterArg_119, %c_136 : tensor<i32>
          %c_137 = stablehlo.constant dense<1> : tensor<i32>
          %288 = stablehlo.add %iterArg_120, %c_137 : tensor<i32>
          %cst_138 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
          %289 = stablehlo.multiply %cst_138, %269 : tensor<f32>
          %290 = stablehlo.multiply %289, %iterArg_102 : tensor<f32>
          %291 = stablehlo.add %iterArg_103, %290 : tensor<f32>
          %292 = stablehlo.compare GT, %282, %291, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %293 = stablehlo.compare GE, %282, %iterArg_108, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %294 = stablehlo.or %292, %293 : tensor<i1>
          %295 = stablehlo.abs %286 : tensor<f32>
          %cst_139 = stablehlo.constant dense<-0.899999976> : tensor<f32>
          %296 = stablehlo.multiply %cst_139, %iterArg_102 : tensor<f32>
          %297 = stablehlo.compare LE, %295, %296, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %298 = stablehlo.not %294 : tensor<i1>
          %299 = stablehlo.and %297, %298 : tensor<i1>
          %300 = stablehlo.convert %iterArg_110 : tensor<f32>
          %301 = stablehlo.subtract %300, %iterArg_107 : tensor<f32>
          %302 = stablehlo.multiply %286, %301 : tensor<f32>
          %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %303 = stablehlo.compare GE, %302, %cst_140, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %304 = stablehlo.not %294 : tensor<i1>
          %305 = stablehlo.and %303, %304 : tensor<i1>
          %306 = stablehlo.not %299 : tensor<i1>
          %307 = stablehlo.and %305, %306 : tensor<i1>
          %308 = stablehlo.not %294 : tensor<i1>
          %309 = stablehlo.not %299 : tensor<i1>
          %310 = stablehlo.and %308, %309 : tensor<i1>
          %311 = func.call @_where_4(%294, %269, %iterArg_110) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %312 = func.call @_where_3(%294, %282, %iterArg_111) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %313 = func.call @_where_3(%294, %286, %iterArg_112) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %314 = func.call @_where(%294, %iterArg_110, %iterArg_113) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %315 = func.call @_where_3(%294, %iterArg_111, %iterArg_114) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %316 = stablehlo.or %299, %iterArg_104 : tensor<i1>
          %317 = func.call @_where_4(%299, %269, %iterArg_115) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %318 = func.call @_where_3(%299, %282, %iterArg_116) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %319 = func.call @_where_3(%299, %286, %iterArg_117) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %320 = func.call @_where_5(%299, %285, %iterArg_118) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          %321 = func.call @_where_3(%307, %iterArg_107, %311) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %322 = func.call @_where_3(%307, %iterArg_108, %312) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %323 = func.call @_where_3(%307, %iterArg_109, %313) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %324 = func.call @_where_3(%307, %311, %314) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %325 = func.call @_where_3(%307, %312, %315) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %326 = stablehlo.not %307 : tensor<i1>
          %327 = stablehlo.and %310, %326 : tensor<i1>
          %328 = func.call @_where_3(%327, %iterArg_107, %324) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %329 = func.call @_where_3(%327, %iterArg_108, %325) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %330 = func.call @_where_3(%310, %269, %iterArg_107) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %331 = func.call @_where_3(%310, %282, %iterArg_108) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %332 = func.call @_where_3(%310, %286, %iterArg_109) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
          %c_141 = stablehlo.constant dense<1> : tensor<i32>
          %333 = stablehlo.add %iterArg_106, %c_141 : tensor<i32>
          %c_142 = stablehlo.constant dense<30> : tensor<i32>
          %334 = stablehlo.compare GE, %333, %c_142, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %c_143 = stablehlo.constant dense<false> : tensor<i1>
          %335 = stablehlo.broadcast_in_dim %c_143, dims = [] : (tensor<i1>) -> tensor<i1>
          %336 = stablehlo.compare NE, %334, %335, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
          %337 = stablehlo.convert %336 : tensor<i1>
          %338 = stablehlo.or %183, %337 : tensor<i1>
          stablehlo.return %iterArg_99, %iterArg_100, %iterArg_101, %iterArg_102, %iterArg_103, %316, %338, %333, %330, %331, %332, %321, %322, %323, %328, %329, %317, %318, %319, %320, %287, %288 : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i32>, tensor<i32>
        }
        %150 = stablehlo.add %141, %149#20 : tensor<i32>
        %151 = stablehlo.add %142, %149#21 : tensor<i32>
        %152 = stablehlo.or %123, %iterArg_57 : tensor<i1>
        %153 = stablehlo.and %123, %140#6 : tensor<i1>
        %154 = stablehlo.or %153, %iterArg_58 : tensor<i1>
        %155 = func.call @_where_4(%123, %140#16, %iterArg_65) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %156 = func.call @_where_3(%123, %140#17, %iterArg_66) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %157 = func.call @_where_3(%123, %140#18, %iterArg_67) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %158 = func.call @_where_5(%123, %140#19, %iterArg_68) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        %159 = stablehlo.or %128, %152 : tensor<i1>
        %160 = func.call @_where_3(%128, %93, %155) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %161 = func.call @_where_3(%128, %106, %156) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %162 = func.call @_where_3(%128, %110, %157) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %163 = func.call @_where_5(%128, %109, %158) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        %164 = stablehlo.or %133, %159 : tensor<i1>
        %165 = stablehlo.and %133, %149#6 : tensor<i1>
        %166 = stablehlo.or %165, %154 : tensor<i1>
        %167 = func.call @_where_3(%133, %149#16, %160) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %168 = func.call @_where_3(%133, %149#17, %161) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %169 = func.call @_where_3(%133, %149#18, %162) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %170 = func.call @_where_5(%133, %149#19, %163) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        %c_98 = stablehlo.constant dense<1> : tensor<i32>
        %171 = stablehlo.add %iterArg_59, %c_98 : tensor<i32>
        stablehlo.return %iterArg_51, %iterArg_52, %iterArg_53, %iterArg_54, %iterArg_55, %iterArg_56, %164, %166, %171, %93, %106, %110, %150, %151, %167, %168, %169, %170 : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>
      }
      %c_39 = stablehlo.constant dense<10> : tensor<i32>
      %41 = stablehlo.compare GT, %40#8, %c_39, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_40 = stablehlo.constant dense<3> : tensor<i32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %42 = func.call @_where_6(%41, %c_40, %c_41) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_42 = stablehlo.constant dense<1> : tensor<i32>
      %43 = func.call @_where_7(%40#7, %c_42, %42) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %44 = stablehlo.abs %40#14 : tensor<f32>
      %cst_43 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
      %45 = stablehlo.compare LT, %44, %cst_43, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_44 = stablehlo.constant dense<true> : tensor<i1>
      %46 = stablehlo.and %c_44, %45 : tensor<i1>
      %47 = stablehlo.sign %40#14 : tensor<f32>
      %cst_45 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
      %48 = stablehlo.multiply %47, %cst_45 : tensor<f32>
      %49 = func.call @_where_3(%46, %48, %40#14) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %50 = stablehlo.not %40#6 : tensor<i1>
      %51 = stablehlo.or %40#7, %50 : tensor<i1>
      %c_46 = stablehlo.constant dense<1> : tensor<i32>
      %52 = stablehlo.subtract %40#8, %c_46 : tensor<i32>
      %53 = stablehlo.add %iterArg_21, %40#12 : tensor<i32>
      %54 = stablehlo.add %iterArg_22, %40#13 : tensor<i32>
      %55 = stablehlo.broadcast_in_dim %49, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %56 = stablehlo.multiply %55, %33 : tensor<3xf32>
      %57 = stablehlo.add %iterArg_23, %56 : tensor<3xf32>
      %58 = stablehlo.subtract %40#17, %iterArg_25 : tensor<3xf32>
      %59 = stablehlo.dot_general %58, %56, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
      %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %60 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<f32>
      %61 = stablehlo.divide %60, %59 : tensor<f32>
      %62 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
      %63 = stablehlo.broadcast_in_dim %58, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %64 = stablehlo.broadcast_in_dim %62, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x3xf32>
      %65 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<3x3xf32>
      %66 = stablehlo.multiply %64, %65 : tensor<3x3xf32>
      %67 = stablehlo.iota dim = 0 : tensor<3x3xi32>
      %68 = stablehlo.iota dim = 1 : tensor<3x3xi32>
      %c_48 = stablehlo.constant dense<0> : tensor<i32>
      %69 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
      %70 = stablehlo.add %67, %69 : tensor<3x3xi32>
      %71 = stablehlo.compare EQ, %70, %68, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
      %72 = stablehlo.convert %71 : (tensor<3x3xi1>) -> tensor<3x3xf32>
      %73 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
      %74 = stablehlo.multiply %73, %66 : tensor<3x3xf32>
      %75 = stablehlo.subtract %72, %74 : tensor<3x3xf32>
      %76 = stablehlo.dot_general %iterArg_26, %75, contracting_dims = [0] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      %77 = stablehlo.dot_general %76, %75, contracting_dims = [0] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      %78 = stablehlo.broadcast_in_dim %56, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
      %79 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
      %80 = stablehlo.multiply %79, %78 : tensor<3x1xf32>
      %81 = stablehlo.broadcast_in_dim %56, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %82 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x3xf32>
      %83 = stablehlo.broadcast_in_dim %81, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<3x3xf32>
      %84 = stablehlo.multiply %82, %83 : tensor<3x3xf32>
      %85 = stablehlo.add %77, %84 : tensor<3x3xf32>
      %86 = stablehlo.is_finite %61 : (tensor<f32>) -> tensor<i1>
      %87 = func.call @_where_8(%86, %85, %iterArg_26) : (tensor<i1>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
      %88 = func.call @norm(%40#17) : (tensor<3xf32>) -> tensor<f32>
      %cst_49 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
      %89 = stablehlo.compare LT, %88, %cst_49, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_50 = stablehlo.constant dense<1> : tensor<i32>
      %90 = stablehlo.add %iterArg_20, %c_50 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %89, %51, %90, %53, %54, %57, %40#15, %40#17, %87, %iterArg_24, %43 : tensor<i32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<i32>
    }
    %c_12 = stablehlo.constant dense<3> : tensor<i32>
    %25 = stablehlo.compare EQ, %24#4, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_13 = stablehlo.constant dense<2> : tensor<i32>
    %26 = stablehlo.add %c_13, %24#12 : tensor<i32>
    %c_14 = stablehlo.constant dense<-1> : tensor<i32>
    %27 = call @_where_7(%24#3, %26, %c_14) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_15 = stablehlo.constant dense<1> : tensor<i32>
    %28 = call @_where_6(%25, %c_15, %27) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %29 = call @_where_7(%24#2, %c_16, %28) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %30 = stablehlo.not %24#3 : tensor<i1>
    %31 = stablehlo.and %24#2, %30 : tensor<i1>
    return %24#7, %24#4 : tensor<3xf32>, tensor<i32>
  }
  func.func private @norm(%arg0: tensor<3xf32>) -> tensor<f32> {
    %0 = stablehlo.abs %arg0 : tensor<3xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.maximum %cst_0, %1 : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @norm_0(%arg0: tensor<3xf32>) -> tensor<f32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.sqrt %1 : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_where_1(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_where_4(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @_where_5(%arg0: tensor<i1>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @_where_6(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_7(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_8(%arg0: tensor<i1>, %arg1: tensor<3x3xf32>, %arg2: tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
}
