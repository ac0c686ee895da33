func.func @main(%a: tensor<8xf8E4M3FN>) -> tensor<i1> {
  %scale = stablehlo.constant dense<384.0> : tensor<8xf8E4M3FN>
  %0 = stablehlo.multiply %a, %scale : tensor<8xf8E4M3FN>
  %init = stablehlo.constant dense<-1.0> : tensor<f32>
  %1 = stablehlo.convert %0 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %2 = stablehlo.reduce(%1 init: %init) applies stablehlo.maximum across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.is_finite %2 : (tensor<f32>) -> tensor<i1>
  return %3 : tensor<i1>
}

func.func @other(%a: tensor<2xbf16>) -> tensor<2xbf16> {
  return %a : tensor<2xbf16>
}
