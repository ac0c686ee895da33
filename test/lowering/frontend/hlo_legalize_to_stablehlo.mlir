// RUN: fp8-opt %s --hlo-legalize-to-stablehlo | FileCheck %s
// Each chunk of the refused ones, by itself: MHLO is read as a whole file.
// RUN: not fp8-opt %S/../Inputs/hlo_mixed.mlir --hlo-legalize-to-stablehlo 2>&1 | FileCheck %s --check-prefix=MIXED --match-full-lines
// RUN: not fp8-opt %S/../Inputs/hlo_bitcast.mlir --hlo-legalize-to-stablehlo 2>&1 | FileCheck %s --check-prefix=BITCAST --match-full-lines
// RUN: not fp8-opt %S/../Inputs/hlo_bitcast.mlir --hlo-legalize-to-stablehlo -o %t.mlir
// RUN: test ! -e %t.mlir
// There is nothing to do without MHLO.
// RUN: fp8-opt %S/../Inputs/no_hlo.mlir --hlo-legalize-to-stablehlo | FileCheck %s --check-prefix=NONE

// MIXED: {{.*}}hlo_mixed.mlir:3:8: error: 'arith.addf' cannot stand in one module with MHLO: only func, stablehlo and chlo ops can; legalize the MHLO part on its own
// MIXED-NOT: {{.}}
// BITCAST: {{.*}}hlo_bitcast.mlir:2:8: error: failed to legalize operation 'mhlo.bitcast' that was explicitly marked illegal{{.*}}
// BITCAST-NOT: {{.}}
// NONE: arith.addf

// The module's own name and attributes stay, as do those of functions.
// CHECK: module @step attributes {jax.uses = 1 : i32} {
// CHECK-NEXT: func.func @main(
// CHECK-SAME: %arg0: tensor<2x3xf8E4M3FN> {jax.name = "x"}, %arg1: tensor<f32>) -> tensor<2x3xf8E5M2> {
// CHECK-NEXT: %0 = stablehlo.convert %arg0 : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: %2 = stablehlo.divide %0, %1 : tensor<2x3xf32>
// CHECK-NEXT: %3 = stablehlo.multiply %2, %2 : tensor<2x3xf32>
// CHECK-NEXT: %4 = call @clamp(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2>
// CHECK-NEXT: return %5 : tensor<2x3xf8E5M2>
// CHECK: func.func private @clamp(
// CHECK: stablehlo.constant dense<5.734400e+04> : tensor<f32>
// CHECK: stablehlo.constant dense<[0x7E, 0xFF]> : tensor<2xf8E5M2>
// CHECK: stablehlo.clamp
module @step attributes {jax.uses = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xf8E4M3FN> {jax.name = "x"}, %arg1: tensor<f32>)
      -> tensor<2x3xf8E5M2> {
    %0 = mhlo.convert %arg0 : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
    %1 = "mhlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = dense<> : tensor<0xi64>}
        : (tensor<f32>) -> tensor<2x3xf32>
    %2 = mhlo.divide %0, %1 : tensor<2x3xf32>
    // StableHLO and CHLO may stand beside it.
    %3 = chlo.square %2 : tensor<2x3xf32> -> tensor<2x3xf32>
    %4 = call @clamp(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.convert %4 : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2>
    return %5 : tensor<2x3xf8E5M2>
  }
  func.func private @clamp(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = mhlo.constant dense<57344.0> : tensor<f32>
    %1 = mhlo.constant dense<[0x7E, 0xFF]> : tensor<2xf8E5M2>
    %2 = mhlo.clamp %0, %arg0, %0 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}
