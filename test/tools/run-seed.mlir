// stablehlo.rng takes its bits from --seed.
// RUN: fp8-run %s --print > %t.0
// RUN: fp8-run %s --print --seed=0 | diff %t.0 -
// RUN: fp8-run %s --print --seed=1 > %t.1
// RUN: not diff %t.0 %t.1
// RUN: not fp8-run %s --seed=18446744073709551616 2>&1 | filecheck %s --check-prefix=SEED
// SEED: error: {{.*}}: seed is 18446744073709551616: give a number from 0 to 18446744073709551615
func.func @main() -> tensor<8xf32> {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
