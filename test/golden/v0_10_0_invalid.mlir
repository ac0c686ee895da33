// refused: f8E4M3B11FNUZ since 0.11.0
func.func @main(%a: tensor<4xf8E4M3B11FNUZ>) -> tensor<4xf8E4M3B11FNUZ> {
  return %a : tensor<4xf8E4M3B11FNUZ>
}
