// StableHLO 1.11.0: programs may hold other dialects too.
func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %1 = arith.addf %0, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
}
