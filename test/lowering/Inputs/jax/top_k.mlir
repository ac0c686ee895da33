module @jit_top_k attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x13xf32>, %arg1: tensor<3x40xf8E4M3FN>, %arg2: tensor<17xbf16>) -> (tensor<9x5xf32> {jax.result_info = "result[0][0]"}, tensor<9x5xi32> {jax.result_info = "result[0][1]"}, tensor<3x7xf8E4M3FN> {jax.result_info = "result[1][0]"}, tensor<3x7xi32> {jax.result_info = "result[1][1]"}, tensor<17xbf16> {jax.result_info = "result[2][0]"}, tensor<17xi32> {jax.result_info = "result[2][1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 5) : tensor<9x13xf32> -> (tensor<9x5xf32>, tensor<9x5xi32>)
    %values_0, %indices_1 = chlo.top_k(%arg1, k = 7) : tensor<3x40xf8E4M3FN> -> (tensor<3x7xf8E4M3FN>, tensor<3x7xi32>)
    %values_2, %indices_3 = chlo.top_k(%arg2, k = 17) : tensor<17xbf16> -> (tensor<17xbf16>, tensor<17xi32>)
    return %values, %indices, %values_0, %indices_1, %values_2, %indices_3 : tensor<9x5xf32>, tensor<9x5xi32>, tensor<3x7xf8E4M3FN>, tensor<3x7xi32>, tensor<17xbf16>, tensor<17xi32>
  }
}
