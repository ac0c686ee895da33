// refused: future since 1.15.0
func.func @main(%a: !stablehlo.future<tensor<4xf8E4M3FN>>) -> tensor<4xf8E4M3FN> {
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<4xf8E4M3FN>>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
