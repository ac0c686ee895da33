// refused: ui2 since 1.2.0
func.func @main(%a: tensor<4xui2>) -> tensor<4xui32> {
  %0 = stablehlo.convert %a : (tensor<4xui2>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
