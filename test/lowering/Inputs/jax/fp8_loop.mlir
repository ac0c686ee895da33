module @jit_fp8_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf8E5M2>, %arg1: tensor<4x4xf8E4M3FN>) -> (tensor<5x4xf8E5M2> {jax.result_info = "result[0]"}, tensor<4x4xf8E4M3FN> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0, %iterArg_3 = %arg1) : tensor<i32>, tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>
    cond {
      %c_4 = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:3 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_3) : (tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>) -> (tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>)
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg, %c_4 : tensor<i32>
      stablehlo.return %2, %1#0, %1#1, %1#2 : tensor<i32>, tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>
    }
    return %0#2, %0#3 : tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<5x4xf8E5M2>, %arg2: tensor<4x4xf8E4M3FN>) -> (tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.convert %arg1 : (tensor<5x4xf8E5M2>) -> tensor<5x4xf32>
    %2 = stablehlo.convert %arg2 : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %4 = stablehlo.convert %3 : (tensor<5x4xf32>) -> tensor<5x4xf8E5M2>
    %5 = stablehlo.multiply %arg2, %arg2 : tensor<4x4xf8E4M3FN>
    return %0, %4, %5 : tensor<i32>, tensor<5x4xf8E5M2>, tensor<4x4xf8E4M3FN>
  }
}
