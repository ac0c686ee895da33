func.func @multiply(%a: tensor<8xf8E4M3FN>, %b: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = stablehlo.multiply %a, %b : tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}

// The interpreter computes it in several steps of f8.
func.func @logistic(%a: tensor<8xf8E4M3FN>, %b: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = stablehlo.logistic %a : tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}

// No judge knows it.
func.func @unsupported(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
