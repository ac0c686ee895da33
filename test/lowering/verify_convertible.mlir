// RUN: fp8-opt %s --verify-convertible --split-input-file --verify-diagnostics

func.func @main(%arg0: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  // expected-error @+1 {{'stablehlo.bitcast_convert' on complex numbers has no lowering: bitcast their real and imaginary parts}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

func.func @main(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xi8> {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
