// RUN: fp8-opt %s --stablehlo-rng-expander | filecheck %s --check-prefixes=CHECK,ZERO
// RUN: fp8-opt %s --stablehlo-rng-expander=seed=7 | filecheck %s --check-prefixes=CHECK,SEVEN

// CHECK-LABEL: func.func @uniform
// ZERO: stablehlo.constant dense<-6411193824288604561> : tensor<i64>
// SEVEN-NOT: dense<-6411193824288604561>
// CHECK-NOT: stablehlo.rng
// CHECK: stablehlo.shift_right_logical
// CHECK: stablehlo.compare LT
func.func @uniform(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4xf32> {
  %s = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @two_words
// CHECK: stablehlo.rng_bit_generator
// CHECK-LABEL: func.func @three_words
// CHECK-NOT: stablehlo.rng_bit_generator
// CHECK: stablehlo.xor
func.func @two_words(%s: tensor<2xui64>) -> tensor<4xui32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}
func.func @three_words(%s: tensor<3xui64>) -> tensor<4xui32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX
    : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}
