// refused: i2 since 1.2.0
func.func @main(%a: tensor<4xi2>) -> tensor<4xi2> {
  return %a : tensor<4xi2>
}
