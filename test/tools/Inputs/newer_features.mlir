func.func @main(%a: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.tan %a : tensor<2xf8E3M4>
  %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf8E3M4>
  return %1 : tensor<2xf8E3M4>
}
