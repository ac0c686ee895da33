// A module goes to the oldest version and back unchanged; the artifact says which version it is.
// RUN: fp8-translate --serialize --target=0.9.0 %s | fp8-translate --deserialize --print-stablehlo-version | FileCheck %s
// RUN: fp8-translate -serialize -target=minimum -strip-debuginfo %s -o %t.bc
// RUN: fp8-translate -deserialize %t.bc -o %t.mlir
// RUN: fp8-translate --serialize --target=minimum --strip-debuginfo %t.mlir -o %t.again.bc
// RUN: cmp %t.bc %t.again.bc
// RUN: fp8-translate --serialize < %s | fp8-translate --deserialize --print-stablehlo-version - | FileCheck %s --check-prefix=CURRENT
// RUN: fp8-opt %s --emit-bytecode | fp8-translate --serialize --target=1.0.0 | fp8-translate --deserialize | FileCheck %s --check-prefix=PLAIN

// CHECK: // Reading portable artifact with StableHLO version: 0.9.0
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @main(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xf8E5M2> {
// CHECK-NEXT: %0 = stablehlo.convert %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2xf8E5M2>
// CHECK-NEXT: return %0 : tensor<2xf8E5M2>
// CURRENT: // Reading portable artifact with StableHLO version: 1.
// PLAIN-NOT: Reading
// PLAIN: stablehlo.convert
func.func @main(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xf8E5M2> {
  %0 = stablehlo.convert %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}
