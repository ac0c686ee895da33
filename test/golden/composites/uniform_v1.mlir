// Version 1 of the composites of fp8.uniform_quantize and fp8.uniform_dequantize.
func.func @main(%x: tensor<4x2xf32>, %q: tensor<4x2xf8E4M3FN>) -> (tensor<4x2xf8E4M3FN>, tensor<4x2xf32>, tensor<4x2xi8>, tensor<4x2xf32>) {
  %0 = "fp8.uniform_quantize"(%x) {type = !quant.uniform<f8E4M3FN:f32, 3.000000e-01>} : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3FN>
  %1 = "fp8.uniform_dequantize"(%q) {type = !quant.uniform<f8E4M3FN:f32:1, {3.000000e-01,1.250000e-01}>} : (tensor<4x2xf8E4M3FN>) -> tensor<4x2xf32>
  %2 = "fp8.uniform_quantize"(%x) {type = !quant.uniform<i8<-127:127>:f32:{0:2}, {{2.500000e-01:1}, {5.000000e-01}}>} : (tensor<4x2xf32>) -> tensor<4x2xi8>
  %3 = "fp8.uniform_dequantize"(%2) {type = !quant.uniform<i8<-127:127>:f32:{0:2}, {{2.500000e-01:1}, {5.000000e-01}}>} : (tensor<4x2xi8>) -> tensor<4x2xf32>
  return %0, %1, %2, %3 : tensor<4x2xf8E4M3FN>, tensor<4x2xf32>, tensor<4x2xi8>, tensor<4x2xf32>
}
