// StableHLO 1.4.0: tan.
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %0 = stablehlo.tan %a : tensor<4xf8E4M3FN>
  %1 = stablehlo.tan %b : tensor<4xf32>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4xf32>
}
