// refused: i2 since 1.2.0
func.func @main(%a: tensor<4xi2>) -> tensor<4xi32> {
  %0 = stablehlo.convert %a : (tensor<4xi2>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
