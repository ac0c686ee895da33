// refused: ui2 since 1.2.0
func.func @main(%a: tensor<4xui2>) -> tensor<4xui2> {
  return %a : tensor<4xui2>
}
