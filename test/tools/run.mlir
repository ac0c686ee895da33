// A file, standard input, bytecode and artifact; what is printed.
// RUN: fp8-run %s --print | filecheck %s --match-full-lines
// RUN: fp8-run - --print < %s | filecheck %s --match-full-lines
// RUN: fp8-opt %s --emit-bytecode | fp8-run - --print | filecheck %s --match-full-lines
// RUN: fp8-translate --serialize --target=1.0.0 %s | fp8-run - -print | filecheck %s --match-full-lines
// RUN: fp8-run %s | filecheck %s --match-full-lines --check-prefix=SUMMARY
// RUN: fp8-run %s --entry empty | filecheck %s --match-full-lines --check-prefix=EMPTY
// RUN: fp8-run %s --entry nothing > %t.nothing
// RUN: test ! -s %t.nothing

// Stages and their seconds are on standard error.
// RUN: fp8-run %s --timing 2>&1 > %t.stdout | filecheck %s --match-full-lines --check-prefix=TIMING
// RUN: filecheck %s --match-full-lines --check-prefix=SUMMARY --input-file %t.stdout

// CHECK:      res0 : tensor<2x3xf8E4M3FN>
// CHECK-NEXT: {{\[\[   1.         nan   -0.   ]}}
// CHECK-NEXT: {{ \[ 448.    -448.       0.125]]}}
// CHECK-NEXT: res1 : tensor<f64>
// CHECK-NEXT: 0.1
// CHECK-NEXT: res2 : tensor<2xi1>
// CHECK-NEXT: [ True False]
// CHECK-NEXT: res3 : tensor<2xui64>
// CHECK-NEXT: {{\[}}                   1 18446744073709551615]

// SUMMARY:      res0 : tensor<2x3xf8E4M3FN>  min -448  max 448  mean 0.225  NaN 1
// SUMMARY-NEXT: res1 : tensor<f64>  min 0.1  max 0.1  mean 0.1  NaN 0
// SUMMARY-NEXT: res2 : tensor<2xi1>  min 0  max 1  mean 0.5
// SUMMARY-NEXT: res3 : tensor<2xui64>  min 1  max 18446744073709551615  mean 9.22337e+18

// EMPTY:      res0 : tensor<2x0xf32>  no elements
// EMPTY-NEXT: res1 : tensor<2xbf16>  all 2 are NaN

// TIMING:      load {{ *[0-9.]+}} s
// TIMING-NEXT: to linalg {{ *[0-9.]+}} s
// TIMING-NEXT: to LLVM {{ *[0-9.]+}} s
// TIMING-NEXT: to native code {{ *[0-9.]+}} s
// TIMING-NEXT: kernels for {{ *[a-z0-9-]+}}
// TIMING-NEXT: run {{ *[0-9.]+}} s
func.func @main() -> (tensor<2x3xf8E4M3FN>, tensor<f64>, tensor<2xi1>, tensor<2xui64>) {
  %0 = stablehlo.constant dense<[[1.0, 0x7F, -0.0], [448.0, -448.0, 0.125]]> : tensor<2x3xf8E4M3FN>
  %1 = stablehlo.constant dense<0.1> : tensor<f64>
  %2 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %3 = stablehlo.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  return %0, %1, %2, %3 : tensor<2x3xf8E4M3FN>, tensor<f64>, tensor<2xi1>, tensor<2xui64>
}

func.func @empty() -> (tensor<2x0xf32>, tensor<2xbf16>) {
  %0 = stablehlo.constant dense<> : tensor<2x0xf32>
  %1 = stablehlo.constant dense<0x7FC0> : tensor<2xbf16>
  return %0, %1 : tensor<2x0xf32>, tensor<2xbf16>
}

func.func @nothing() {
  return
}
