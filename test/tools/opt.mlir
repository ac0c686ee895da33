// A file, standard input, and `-o`.
// RUN: fp8-opt %s | FileCheck %s
// RUN: fp8-opt < %s | FileCheck %s
// RUN: fp8-opt - < %s | FileCheck %s
// RUN: fp8-opt -- %s | FileCheck %s
// RUN: fp8-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: fp8-opt -o=%t.mlir %s > %t.stdout 2>&1
// RUN: test ! -s %t.stdout
// RUN: fp8-opt %s -o - | FileCheck %s

// Written over itself: the whole input is read before the output is made.
// RUN: cp %s %t.inplace.mlir
// RUN: fp8-opt %t.inplace.mlir --canonicalize -o %t.inplace.mlir
// RUN: FileCheck %s --check-prefix=FOLDED --input-file %t.inplace.mlir

// CHECK: module {
// CHECK-NEXT: func.func @add(%arg0: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
// CHECK-NEXT: %0 = stablehlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
// CHECK-NEXT: %1 = stablehlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
// CHECK-NEXT: return %1 : tensor<4xf8E4M3FN>
// CHECK-NEXT: }
// CHECK-NEXT: }
// FOLDED: func.func @add
// FOLDED: stablehlo.add
// FOLDED-NOT: stablehlo.add
func.func @add(%arg0: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
  %1 = stablehlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}
