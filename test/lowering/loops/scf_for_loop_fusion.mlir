// RUN: fp8-opt %s --scf-for-loop-fusion | FileCheck %s

// Fused over rows, through reshapes too; ops in between are hoisted, a deallocation stays.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[ALLOC:.*]] = memref.alloc() : memref<8xf32>
// CHECK: %[[OTHER:.*]] = memref.alloc() : memref<1x8xf32>
// CHECK: %[[SHAPED:.*]] = memref.expand_shape %[[ALLOC]]
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: memref.store %{{.*}}, %[[ALLOC]][%[[ROW]]]
// CHECK: scf.for
// CHECK: memref.load %[[SHAPED]][%[[ROW]], %{{.*}}]
// CHECK: memref.store %{{.*}}, %arg1[%[[ROW]], %{{.*}}]
// CHECK-NOT: scf.for
// CHECK: memref.dealloc
// CHECK-NOT: scf.for
// CHECK: return
func.func @rows(%a: memref<8x512xf32>, %r: memref<8x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  %2 = memref.alloc() : memref<1x8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %0[%i] : memref<8xf32>
  }
  memref.dealloc %2 : memref<1x8xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [8, 1] : memref<8xf32> into memref<8x1xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c512 step %c1 {
      %3 = memref.load %1[%i, %c0] : memref<8x1xf32>
      %4 = memref.load %a[%i, %j] : memref<8x512xf32>
      %5 = arith.addf %3, %4 : f32
      memref.store %5, %r[%i, %j] : memref<8x512xf32>
    }
  }
  memref.dealloc %0 : memref<8xf32>
  return
}

// The second loop reads what other iterations of the first write.
// CHECK-LABEL: func.func @across(
// CHECK: scf.for
// CHECK: memref.store
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: scf.for %[[J:.*]] =
func.func @across(%a: memref<8xf32>, %r: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %0[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %1 = memref.load %0[%j] : memref<8xf32>
      memref.store %1, %r[%i, %j] : memref<8x8xf32>
    }
  }
  memref.dealloc %0 : memref<8xf32>
  return
}

// Arguments of a private function may alias.
// CHECK-LABEL: func.func private @unknown(
// CHECK: scf.for
// CHECK: memref.store
// CHECK: scf.for
// CHECK: memref.load
func.func private @unknown(%a: memref<8xf32>, %r: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %a[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %1 = memref.load %a[%i] : memref<8xf32>
    memref.store %1, %r[%i] : memref<8xf32>
  }
  return
}

// Subviews of one buffer with equal row offsets; those that are one row apart do not fuse.
// CHECK-LABEL: func.func @parts(
// CHECK: scf.for
// CHECK: memref.store %arg0
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<8x5xf32, strided<[16, 1], offset: 3>>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<8x5xf32, strided<[16, 1], offset: 24>>
func.func @parts(%value: f32, %a: memref<8x5xf32>, %r: memref<9x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %left = memref.subview %r[0, 0] [8, 3] [1, 1] : memref<9x16xf32> to memref<8x3xf32, strided<[16, 1]>>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %value, %left[%i, %j] : memref<8x3xf32, strided<[16, 1]>>
    }
  }
  %middle = memref.subview %r[0, 3] [8, 5] [1, 1] : memref<9x16xf32> to memref<8x5xf32, strided<[16, 1], offset: 3>>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %x = memref.load %a[%i, %j] : memref<8x5xf32>
      memref.store %x, %middle[%i, %j] : memref<8x5xf32, strided<[16, 1], offset: 3>>
    }
  }
  %right = memref.subview %r[1, 8] [8, 5] [1, 1] : memref<9x16xf32> to memref<8x5xf32, strided<[16, 1], offset: 24>>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %x = memref.load %a[%i, %j] : memref<8x5xf32>
      memref.store %x, %right[%i, %j] : memref<8x5xf32, strided<[16, 1], offset: 24>>
    }
  }
  return
}
