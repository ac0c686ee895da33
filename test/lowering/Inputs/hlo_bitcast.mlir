func.func @main(%arg0: tensor<4xf32>) -> tensor<4xi32> {
  %0 = "mhlo.bitcast"(%arg0) : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
