// RUN: fp8-opt %s --drop-donated-results | FileCheck %s

// The first result is in its argument; the second was made elsewhere and is copied.
// CHECK-LABEL: func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>) -> (memref<2xf32> {jax.name = "r"}) {
// CHECK-NEXT: %[[MADE:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[KEPT:.*]] = memref.alloc() : memref<2xf32>
// CHECK-NEXT: memref.copy %[[MADE]], %arg1
// CHECK-NEXT: return %[[KEPT]] : memref<2xf32>
func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>)
    -> (memref<4xf32>, memref<2xf32> {jax.name = "r"}, memref<4xf32>)
    attributes {mlir_fp8.donated = array<i64: 0, 0, 1, 2>} {
  %0 = memref.alloc() : memref<4xf32>
  %1 = memref.alloc() : memref<2xf32>
  return %arg0, %1, %0 : memref<4xf32>, memref<2xf32>, memref<4xf32>
}

// CHECK-LABEL: func.func @other(%arg0: memref<4xf32>) -> memref<4xf32>
func.func @other(%arg0: memref<4xf32>) -> memref<4xf32> {
  return %arg0 : memref<4xf32>
}
