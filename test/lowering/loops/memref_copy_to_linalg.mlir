// RUN: fp8-opt %s --memref-copy-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @strided(
// CHECK-NEXT: linalg.copy
// CHECK-SAME: ins(%arg0 : memref<4x2xi8, strided<[8, 2], offset: ?>>) outs(%arg1 : memref<4x2xi8>)
// CHECK-NOT: memref.copy
// CHECK: linalg.copy
// CHECK-SAME: ins(%arg1 : memref<4x2xi8>) outs(%arg1 : memref<4x2xi8>)
func.func @strided(%arg0: memref<4x2xi8, strided<[8, 2], offset: ?>>, %arg1: memref<4x2xi8>) {
  memref.copy %arg0, %arg1 : memref<4x2xi8, strided<[8, 2], offset: ?>> to memref<4x2xi8>
  scf.execute_region {
    memref.copy %arg1, %arg1 : memref<4x2xi8> to memref<4x2xi8>
    scf.yield
  }
  return
}

// -----

func.func @unranked(%arg0: memref<*xf32>, %arg1: memref<*xf32>) {
  // expected-error@+1 {{'memref.copy' of unranked memrefs has no loops: cast both to a ranked type first}}
  memref.copy %arg0, %arg1 : memref<*xf32> to memref<*xf32>
  return
}
