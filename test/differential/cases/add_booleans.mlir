// true and true was false
// arg 0x00010001
// arg 0x00000101
// result bits 0x00010101
func.func @main(%0: tensor<4xi1>, %1: tensor<4xi1>) -> tensor<4xi1> {
  %r = "stablehlo.add"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}
