// RUN: fp8-opt %s --stablehlo-legalize-to-hlo | FileCheck %s
// And back: nothing is lost.
// RUN: fp8-opt %s --canonicalize -o %t.before.mlir
// RUN: fp8-opt %s --stablehlo-legalize-to-hlo | fp8-opt --hlo-legalize-to-stablehlo --canonicalize -o %t.after.mlir
// RUN: diff %t.before.mlir %t.after.mlir
// RUN: not fp8-opt %S/../Inputs/no_hlo.mlir --stablehlo-legalize-to-hlo 2>&1 | FileCheck %s --check-prefix=FOREIGN --match-full-lines

// FOREIGN: {{.*}}no_hlo.mlir:2:8: error: 'arith.addf' does not become MHLO: only func and stablehlo ops do (chlo ones after chlo-legalize-to-stablehlo)
// FOREIGN-NOT: {{.}}

// CHECK: module @keep attributes {jax.uses = 1 : i32} {
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf4E2M1FN> {jax.name = "x"}) -> tensor<4xf8E8M0FNU> {
// CHECK: "mhlo.constant"() <{value = dense<[1.000000e+00, 2.000000e+00, 4.000000e+00, 0xFF]> : tensor<4xf8E8M0FNU>}>
// CHECK: "mhlo.convert"(%arg0) : (tensor<4xf4E2M1FN>) -> tensor<4xf8E8M0FNU>
// CHECK: "mhlo.compare"({{.*}}) <{comparison_direction = #mhlo<comparison_direction LT>}>
// CHECK: "mhlo.select"
// CHECK-NOT: stablehlo
module @keep attributes {jax.uses = 1 : i32} {
  func.func @main(%arg0: tensor<4xf4E2M1FN> {jax.name = "x"}) -> tensor<4xf8E8M0FNU> {
    %0 = stablehlo.constant dense<[1.0, 2.0, 4.0, 0xFF]> : tensor<4xf8E8M0FNU>
    %1 = stablehlo.convert %arg0 : (tensor<4xf4E2M1FN>) -> tensor<4xf8E8M0FNU>
    %2 = stablehlo.compare LT, %0, %1
        : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xi1>
    %3 = stablehlo.select %2, %0, %1 : tensor<4xi1>, tensor<4xf8E8M0FNU>
    return %3 : tensor<4xf8E8M0FNU>
  }
}
