// refused: f8E5M2FNUZ since 0.10.0
func.func @main(%a: tensor<4xf8E5M2FNUZ>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf8E5M2FNUZ>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
