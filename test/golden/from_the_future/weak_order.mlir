// since 1.22.0: comparisons in weak order.
func.func @main(%a: tensor<4xf8E5M2>, %b: tensor<4xf8E5M2>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, WEAKORDER : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
