module @jit_nested attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<6xf32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1) : tensor<i32>, tensor<i32>, tensor<6xf32>
    cond {
      %1 = stablehlo.compare LT, %iterArg_0, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %2 = func.call @remainder(%iterArg_0, %c_3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.compare EQ, %2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
      %5 = "stablehlo.case"(%4) ({
        %c_5 = stablehlo.constant dense<2> : tensor<i32>
        %6 = func.call @remainder(%iterArg_0, %c_5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %c_6 = stablehlo.constant dense<0> : tensor<i32>
        %c_7 = stablehlo.constant dense<1> : tensor<i32>
        %7 = stablehlo.clamp %c_6, %6, %c_7 : tensor<i32>
        %8 = "stablehlo.case"(%7) ({
          %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
          %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
          %10 = stablehlo.add %iterArg_1, %9 : tensor<6xf32>
          stablehlo.return %10 : tensor<6xf32>
        }, {
          %c_8 = stablehlo.constant dense<0> : tensor<i32>
          %c_9 = stablehlo.constant dense<0> : tensor<i32>
          %9:3 = stablehlo.while(%iterArg_10 = %c_9, %iterArg_11 = %c_8, %iterArg_12 = %iterArg_1) : tensor<i32>, tensor<i32>, tensor<6xf32>
          cond {
            %c_13 = stablehlo.constant dense<3> : tensor<i32>
            %10 = stablehlo.compare LT, %iterArg_10, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %10 : tensor<i1>
          } do {
            %10:2 = func.call @closed_call(%iterArg_11, %iterArg_12) : (tensor<i32>, tensor<6xf32>) -> (tensor<i32>, tensor<6xf32>)
            %c_13 = stablehlo.constant dense<1> : tensor<i32>
            %11 = stablehlo.add %iterArg_10, %c_13 : tensor<i32>
            stablehlo.return %11, %10#0, %10#1 : tensor<i32>, tensor<i32>, tensor<6xf32>
          }
          stablehlo.return %9#2 : tensor<6xf32>
        }) : (tensor<i32>) -> tensor<6xf32>
        stablehlo.return %8 : tensor<6xf32>
      }, {
        %6 = stablehlo.while(%iterArg_5 = %iterArg_1) : tensor<6xf32>
        cond {
          %7 = stablehlo.abs %iterArg_5 : tensor<6xf32>
          %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
          %cst_6 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
          %9 = stablehlo.compare GT, %8, %cst_6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %9 : tensor<i1>
        } do {
          %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
          %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
          %8 = stablehlo.multiply %iterArg_5, %7 : tensor<6xf32>
          stablehlo.return %8 : tensor<6xf32>
        }
        stablehlo.return %6 : tensor<6xf32>
      }) : (tensor<i32>) -> tensor<6xf32>
      stablehlo.return %iterArg, %1, %5 : tensor<i32>, tensor<i32>, tensor<6xf32>
    }
    return %0#1, %0#2 : tensor<i32>, tensor<6xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<6xf32>) -> (tensor<i32>, tensor<6xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = call @_roll_static(%arg1) : (tensor<6xf32>) -> tensor<6xf32>
    %2 = stablehlo.add %arg1, %1 : tensor<6xf32>
    return %0, %2 : tensor<i32>, tensor<6xf32>
  }
  func.func private @_roll_static(%arg0: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.slice %arg0 [5:6] : (tensor<6xf32>) -> tensor<1xf32>
    %1 = stablehlo.slice %arg0 [0:5] : (tensor<6xf32>) -> tensor<5xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf32>, tensor<5xf32>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
}
