// The interpreter computes the logistic in several steps of f8.
func.func private @gate(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %1 = stablehlo.logistic %0 : tensor<8xf8E4M3FN>
  %2 = stablehlo.convert %1 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = func.call @gate(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.multiply %1, %b : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}
