// RUN: fp8-opt %s --outline-loops | FileCheck %s

// Reshaped buffers are passed in the new shape: both loops are outlined to one function.
// CHECK-LABEL: func.func @shapes(
// CHECK: call @loops_0(%[[A:.*]]) : (memref<6xf32>) -> ()
// CHECK: call @loops_0(%[[B:.*]]) : (memref<6xf32>) -> ()
func.func @shapes(%a: memref<2x3xf32>, %b: memref<3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %0 = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    memref.store %zero, %0[%i] : memref<6xf32>
  }
  %1 = memref.collapse_shape %b [[0, 1]] : memref<3x2xf32> into memref<6xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    memref.store %zero, %1[%i] : memref<6xf32>
  }
  return
}

// One buffer in two shapes is passed once, so that the parameter may be `noalias`.
// CHECK-LABEL: func.func @twice(
// CHECK: call @loops_1(%arg0) : (memref<2x3xf32>) -> ()
func.func @twice(%a: memref<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %0 = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    %1 = memref.load %a[%c0, %c0] : memref<2x3xf32>
    memref.store %1, %0[%i] : memref<6xf32>
  }
  return
}

// CHECK: func.func private @loops_0(%arg0: memref<6xf32> {llvm.noalias})
// CHECK: func.func private @loops_1(%arg0: memref<2x3xf32> {llvm.noalias})
// CHECK: memref.collapse_shape %arg0
