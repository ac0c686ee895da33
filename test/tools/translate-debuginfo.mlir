// Locations travel in an artifact unless stripped.
// RUN: fp8-translate --serialize %s -o %t.bc
// RUN: fp8-translate --serialize --strip-debuginfo %s -o %t.stripped.bc
// RUN: fp8-opt %t.bc --mlir-print-debuginfo | FileCheck %s
// RUN: fp8-opt %t.stripped.bc --mlir-print-debuginfo | FileCheck %s --check-prefix=STRIPPED

// CHECK: translate-debuginfo.mlir":[[LINE:[0-9]+]]:
// STRIPPED: func.func @main
// STRIPPED-NOT: translate-debuginfo.mlir
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %arg0 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
