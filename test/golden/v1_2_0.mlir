// StableHLO 1.2.0: i2 and ui2.
func.func @main(%a: tensor<4xi2>, %b: tensor<4xui2>) -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) {
  %0 = stablehlo.convert %a : (tensor<4xi2>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.convert %b : (tensor<4xui2>) -> tensor<4xf8E4M3FN>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>
}
func.func @constants() -> (tensor<4xi2>, tensor<4xui2>) {
  %0 = stablehlo.constant dense<[-2, -1, 0, 1]> : tensor<4xi2>
  %1 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xui2>
  return %0, %1 : tensor<4xi2>, tensor<4xui2>
}
