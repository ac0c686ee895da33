// RUN: fp8-opt %s --outline-loops | FileCheck %s
// Run twice: symbol names do not clash, and arguments that may alias are not `noalias`.
// RUN: fp8-opt %s --outline-loops --outline-loops | FileCheck %s --check-prefix=TWICE

// CHECK: #[[ANNOTATION:.*]] = #llvm.loop_annotation<

// Equal loops in two functions are outlined to one function, which clones constants.
// CHECK-LABEL: func.func @two_fills(
// CHECK: %[[ALLOC:.*]] = memref.alloc() : memref<4xf32>
// CHECK: call @loops_1(%arg0, %[[ALLOC]]) : (f32, memref<4xf32>) -> ()
// CHECK-NEXT: call @loops_1(%arg0, %arg1) : (f32, memref<4xf32>) -> ()
// CHECK-NOT: scf.for
func.func @two_fills(%arg0: f32, %arg1: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %arg0, %0[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %arg0, %arg1[%i] : memref<4xf32>
  }
  return
}

// Symbol names stay unique.
// CHECK-LABEL: func.func private @loops_0(f32)
func.func private @loops_0(f32)

// Views are cloned into the function with their buffer as argument; a nest is outlined whole.
// CHECK-LABEL: func.func @view(
// CHECK: call @loops_2(%arg0) : (memref<8xf32>) -> ()
func.func @view(%arg0: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = memref.subview %arg0[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [2, 2]
      : memref<4xf32, strided<[1], offset: 4>> into memref<2x2xf32, strided<[2, 1], offset: 4>>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %2 = memref.load %1[%i, %j] : memref<2x2xf32, strided<[2, 1], offset: 4>>
      %3 = arith.addf %2, %2 : f32
      memref.store %3, %1[%j, %i] : memref<2x2xf32, strided<[2, 1], offset: 4>>
    }
  }
  return
}

// A buffer that may alias another: no `noalias`.
// CHECK-LABEL: func.func @alias(
// CHECK: call @loops_3(%{{.*}}, %arg0)
func.func @alias(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = arith.select %arg2, %arg0, %arg1 : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %1 = memref.load %0[%i] : memref<4xf32>
    memref.store %1, %arg0[%i] : memref<4xf32>
  }
  return
}

// CHECK-LABEL: func.func @alias_of_blocks(
// CHECK: call @loops_3(
func.func @alias_of_blocks(%arg0: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  cf.br ^bb1(%arg0 : memref<4xf32>)
^bb1(%0: memref<4xf32>):
  scf.for %i = %c0 to %c4 step %c1 {
    %1 = memref.load %0[%i] : memref<4xf32>
    memref.store %1, %arg0[%i] : memref<4xf32>
  }
  return
}

// Loops inside branches and other loops are outlined, loops with results are not, nor loops that
// store to a buffer of dynamic offset.
// CHECK-LABEL: func.func @inside(
// CHECK: scf.if
// CHECK-NEXT: call @loops_1(%arg0, %arg1)
// CHECK: scf.for {{.*}} iter_args
// CHECK-NEXT: call @loops_1(%arg0, %arg1)
// CHECK: scf.for
// CHECK-NEXT: memref.store
func.func @inside(%arg0: f32, %arg1: memref<4xf32>, %arg2: i1, %arg3: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.if %arg2 {
    scf.for %i = %c0 to %c4 step %c1 {
      memref.store %arg0, %arg1[%i] : memref<4xf32>
    }
  }
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%1 = %arg0) -> f32 {
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %arg0, %arg1[%j] : memref<4xf32>
    }
    %2 = arith.addf %1, %1 : f32
    scf.yield %2 : f32
  }
  %3 = scf.if %arg2 -> memref<4xf32, strided<[1], offset: ?>> {
    %4 = memref.cast %arg1 : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
    scf.yield %4 : memref<4xf32, strided<[1], offset: ?>>
  } else {
    %5 = memref.subview %arg3[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    %6 = memref.cast %5 : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
    scf.yield %6 : memref<4xf32, strided<[1], offset: ?>>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %arg0, %3[%i] : memref<4xf32, strided<[1], offset: ?>>
  }
  return %0 : f32
}

// CHECK: func.func private @loops_1(%arg0: f32, %arg1: memref<4xf32> {llvm.noalias}) attributes {llvm.linkage = #llvm.linkage<internal>, llvm.no_inline} {
// CHECK-DAG: arith.constant 0 : index
// CHECK-DAG: arith.constant 1 : index
// CHECK-DAG: arith.constant 4 : index
// CHECK: scf.for
// CHECK-NEXT: memref.store %arg0, %arg1
// CHECK-NEXT: } {loop_annotation = #[[ANNOTATION]]}
// CHECK: func.func private @loops_2(%arg0: memref<8xf32> {llvm.noalias})
// CHECK: memref.subview %arg0
// CHECK-NEXT: memref.expand_shape
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK: func.func private @loops_3(%arg0: memref<4xf32>, %arg1: memref<4xf32>) attributes
// CHECK-NOT: func.func

// TWICE: func.func private @loops_6(%arg0: memref<4xf32>, %arg1: memref<4xf32>) attributes
