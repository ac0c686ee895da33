// `auto` is the oldest version that holds the module as it is, and is printed; stdout stays binary.
// RUN: fp8-translate --serialize --target=auto %s -o %t.bc 2> %t.err
// RUN: FileCheck %s --check-prefix=REMARK --match-full-lines --input-file %t.err
// RUN: fp8-translate --deserialize --print-stablehlo-version %t.bc | FileCheck %s
// RUN: fp8-translate --serialize --target=auto %s | cmp - %t.bc
// RUN: fp8-translate -serialize -target=WEEK_12 %s | fp8-translate --deserialize | FileCheck %s --check-prefix=SAME
// RUN: fp8-translate --serialize --target=week_4 %s | fp8-translate --deserialize | FileCheck %s --check-prefix=SAME
// RUN: not fp8-translate --serialize --target=MAX %s 2>&1 | FileCheck %s --check-prefix=MAX --match-full-lines
// RUN: fp8-translate --serialize --target=Current %s | fp8-translate --deserialize | FileCheck %s --check-prefix=SAME

// REMARK: remark: {{.*}}translate-auto.mlir: StableHLO 1.7.0 is the oldest version that holds it
// REMARK-NOT: {{.+}}
// CHECK: // Reading portable artifact with StableHLO version: 1.7.0
// SAME: stablehlo.negate %arg0 : tensor<2xf8E3M4>
// MAX: error: {{.*}}translate-auto.mlir: StableHLO 0.9.0 cannot hold it: use target 1.7.0 or later
func.func @main(%arg0: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.negate %arg0 : tensor<2xf8E3M4>
  return %0 : tensor<2xf8E3M4>
}
