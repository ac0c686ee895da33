// Each part between marker lines is a module of its own; other dialects where they are allowed.
// RUN: fp8-translate --stablehlo-to-hlo-text --split-input-file %s | FileCheck %s
// RUN: not fp8-translate --serialize --split-input-file %s 2>&1 | FileCheck %s --check-prefix=BINARY

// RUN: printf 'func.func @main(%%%%a: tensor<2xf32>) -> tensor<2xf32> {\n  %%%%0 = stablehlo.add %%%%a, %%%%a : tensor<2xf32>\n  %%%%1 = arith.addf %%%%0, %%%%a : tensor<2xf32>\n  return %%%%1 : tensor<2xf32>\n}\n' > %t.mixed.mlir
// RUN: fp8-translate --serialize --allow-other-dialects %t.mixed.mlir | fp8-translate --deserialize | FileCheck %s --check-prefix=MIXED
// RUN: not fp8-translate --serialize %t.mixed.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not fp8-translate --deserialize --allow-other-dialects %t.mixed.mlir 2>&1 | FileCheck %s --check-prefix=MISPLACED

// CHECK: HloModule first
// CHECK: ROOT {{.*}} = f8e4m3fn[2]{0} add(
// CHECK: HloModule second
// CHECK: ROOT {{.*}} = f8e5m2[3]{0} negate(
// BINARY: error: {{.*}}translate-split.mlir: 2 modules in one file cannot be read back: write one module at a time
// MIXED: stablehlo.add
// MIXED-NEXT: arith.addf
// REFUSED: .mixed.mlir:3:8: error: 'arith.addf' is not StableHLO
// MISPLACED: error: --allow-other-dialects goes with --serialize

module @first {
  func.func @main(%a: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
    %0 = stablehlo.add %a, %a : tensor<2xf8E4M3FN>
    return %0 : tensor<2xf8E4M3FN>
  }
}

// -----

module @second {
  func.func @main(%a: tensor<3xf8E5M2>) -> tensor<3xf8E5M2> {
    %0 = stablehlo.negate %a : tensor<3xf8E5M2>
    return %0 : tensor<3xf8E5M2>
  }
}
