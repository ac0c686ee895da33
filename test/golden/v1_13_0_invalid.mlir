// refused: composite since 1.14.0
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = "stablehlo.composite"(%a) <{decomposition = @identity, name = "fp8.map"}> ({
  ^bb0(%x: tensor<4xf8E4M3FN>):
    stablehlo.return %x : tensor<4xf8E4M3FN>
  }) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
func.func private @identity(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  return %a : tensor<4xf8E4M3FN>
}
