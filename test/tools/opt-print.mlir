// How the module is printed.
// RUN: fp8-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: fp8-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG
// RUN: fp8-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: fp8-opt %s --mlir-elide-elementsattrs-if-larger=4 | FileCheck %s --check-prefix=ELIDED
// RUN: fp8-opt %s --mlir-elide-elementsattrs-if-larger 8 | FileCheck %s --check-prefix=WHOLE
// RUN: fp8-opt %s --mlir-print-op-generic=false | FileCheck %s --check-prefix=WHOLE

// GENERIC: "builtin.module"() ({
// GENERIC: "func.func"() <{function_type = () -> tensor<8xi8>
// DEBUG: return {{.*}} loc(#loc[[RETURN:[0-9]+]])
// DEBUG: #loc[[RETURN]] = loc("{{.*}}opt-print.mlir":{{[0-9]+}}:3)
// LOCAL: return {{.*}} loc("{{.*}}opt-print.mlir":{{[0-9]+}}:3)
// ELIDED: dense_resource<__elided__> : tensor<8xi8>
// WHOLE: dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi8>
func.func @main() -> tensor<8xi8> {
  %0 = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi8>
  return %0 : tensor<8xi8>
}
