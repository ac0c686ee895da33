// refused: f8E3M4 since 1.7.0
func.func @main(%a: tensor<4xf8E3M4>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf8E3M4>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
