// StableHLO 1.10.0: the accuracy of the other elementary functions.
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf8E5M2>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf8E5M2>) {
  %0 = "stablehlo.tanh"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.logistic"(%0) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.000000e+00, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.rsqrt"(%b) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf8E5M2>
}
