// refused: f4E2M1FN since 1.8.0
func.func @main(%a: tensor<4xf4E2M1FN>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
