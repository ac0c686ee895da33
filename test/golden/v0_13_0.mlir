// StableHLO 0.13.0: control flow on f8 values.
func.func @main(%n: tensor<i32>, %x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf8E5M2>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.add %y, %x : tensor<4xf8E5M2>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xf8E5M2>
  }
  return %0#1 : tensor<4xf8E5M2>
}
