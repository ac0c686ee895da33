// RUN: fp8-run %s --print | filecheck %s --check-prefix=UNSATURATED --match-full-lines
// RUN: fp8-run %s --print --saturate | filecheck %s --check-prefix=SATURATED --match-full-lines

// UNSATURATED: [448.  nan  nan  nan]
// UNSATURATED: [57344.    inf   -inf    nan]
// SATURATED: {{\[ 448.  448. -448.   nan]}}
// SATURATED: {{\[ 57344.  57344. -57344.     nan]}}
func.func @main() -> (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>) {
  %0 = stablehlo.constant dense<[464.0, 465.0, -1.0e+09, 0x7FC00000]> : tensor<4xf32>
  %1 = stablehlo.constant dense<[61439.0, 61440.0, -1.0e+09, 0x7FC00000]> : tensor<4xf32>
  %2 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %3 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %2, %3 : tensor<4xf8E4M3FN>, tensor<4xf8E5M2>
}
