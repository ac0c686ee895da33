module @jit_lexsort attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<50xf32>, %arg1: tensor<50xi32>, %arg2: tensor<50xui8>) -> (tensor<50xi32> {jax.result_info = "result"}) {
    %0 = call @lexsort(%arg0, %arg1, %arg2) : (tensor<50xf32>, tensor<50xi32>, tensor<50xui8>) -> tensor<50xi32>
    return %0 : tensor<50xi32>
  }
  func.func private @lexsort(%arg0: tensor<50xf32>, %arg1: tensor<50xi32>, %arg2: tensor<50xui8>) -> tensor<50xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<50xi32>
    %1:4 = "stablehlo.sort"(%arg2, %arg1, %arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<ui8>, %arg4: tensor<ui8>, %arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<f32>, %arg8: tensor<f32>, %arg9: tensor<i32>, %arg10: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %arg7, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %arg7 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %arg7, %arg7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg8, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_3, %arg8 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg8, %arg8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.compare LT, %arg5, %arg6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.compare EQ, %arg5, %arg6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %13 = stablehlo.and %12, %10 : tensor<i1>
      %14 = stablehlo.or %11, %13 : tensor<i1>
      %15 = stablehlo.compare LT, %arg3, %arg4, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %16 = stablehlo.compare EQ, %arg3, %arg4, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %17 = stablehlo.and %16, %14 : tensor<i1>
      %18 = stablehlo.or %15, %17 : tensor<i1>
      stablehlo.return %18 : tensor<i1>
    }) : (tensor<50xui8>, tensor<50xi32>, tensor<50xf32>, tensor<50xi32>) -> (tensor<50xui8>, tensor<50xi32>, tensor<50xf32>, tensor<50xi32>)
    return %1#3 : tensor<50xi32>
  }
}
