// RUN: fp8-opt %s --outline-loops="parallel" | FileCheck %s

// Independent iterations: the outlined function takes a range, and its attribute is the grain size.
// CHECK-LABEL: func.func @apart(
// CHECK: call @[[APART:loops_[0-9]+]](%arg0, %arg1, {{.*}}, {{.*}}) : (memref<1048576xf32>, memref<1048576xf32>, index, index) -> ()
func.func @apart(%a: memref<1048576xf32>, %r: memref<1048576xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<1048576xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %r[%i] : memref<1048576xf32>
  }
  return
}

// A reduction per row.
// CHECK-LABEL: func.func @rows(
// CHECK: call @[[ROWS:loops_[0-9]+]](%arg0, %arg1, {{.*}}, {{.*}}) : (memref<1024x1024xf32>, memref<1024xf32>, index, index) -> ()
func.func @rows(%a: memref<1024x1024xf32>, %r: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %0 = memref.load %a[%i, %j] : memref<1024x1024xf32>
      %1 = memref.load %r[%i] : memref<1024xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %r[%i] : memref<1024xf32>
    }
  }
  return
}

// Work below the cost of waking threads stays serial: 2^17 elements of four ops. Transcendental
// functions cost more.
// CHECK-LABEL: func.func @brief(
// CHECK: call @loops_{{[0-9]+}}(%arg0) : (memref<131072xf32>) -> ()
// CHECK: call @[[FUNCTIONS:loops_[0-9]+]](%arg0, {{.*}}, {{.*}}) : (memref<131072xf32>, index, index) -> ()
func.func @brief(%a: memref<131072xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 131072 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<131072xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %0 : f32
    memref.store %2, %a[%i] : memref<131072xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<131072xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %a[%i] : memref<131072xf32>
  }
  return
}

// Serial: a full reduction, a loop-carried dependence through memory, two views of one buffer,
// arguments of a private function, which may alias, a call, and a small loop.
// CHECK-LABEL: func.func @sum(
// CHECK: call @loops_{{[0-9]+}}(%arg0, %arg1) : (memref<1048576xf32>, memref<f32>) -> ()
func.func @sum(%a: memref<1048576xf32>, %r: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<1048576xf32>
    %1 = memref.load %r[] : memref<f32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %r[] : memref<f32>
  }
  return
}

// CHECK-LABEL: func.func @before(
// CHECK: call @loops_{{[0-9]+}}(%arg0) : (memref<1048577xf32>) -> ()
func.func @before(%a: memref<1048577xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %0 = memref.load %a[%i] : memref<1048577xf32>
    memref.store %0, %a[%next] : memref<1048577xf32>
  }
  return
}

// CHECK-LABEL: func.func @views(
// CHECK: call @loops_{{[0-9]+}}(%arg0) : (memref<1024x1024xf32>) -> ()
func.func @views(%a: memref<1024x1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  %0 = memref.collapse_shape %a [[0, 1]] : memref<1024x1024xf32> into memref<1048576xf32>
  scf.for %i = %c0 to %n step %c1 {
    %1 = memref.load %a[%c0, %c0] : memref<1024x1024xf32>
    memref.store %1, %0[%i] : memref<1048576xf32>
  }
  return
}

// CHECK-LABEL: func.func private @perhaps_one(
// CHECK: call @loops_{{[0-9]+}}(%arg0, %arg1) : (memref<1048576xf32>, memref<1048576xf32>) -> ()
func.func private @perhaps_one(%a: memref<1048576xf32>, %r: memref<1048576xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<1048576xf32>
    %1 = arith.subf %0, %0 : f32
    memref.store %1, %r[%i] : memref<1048576xf32>
  }
  return
}

// CHECK-LABEL: func.func @small(
// CHECK: call @loops_{{[0-9]+}}(%arg0, %arg1) : (memref<64xf32>, memref<64xf32>) -> ()
func.func @small(%a: memref<64xf32>, %r: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %a[%i] : memref<64xf32>
    memref.store %0, %r[%i] : memref<64xf32>
  }
  return
}

// CHECK: func.func private @[[APART]]({{.*}}, %[[FIRST:[a-z0-9]+]]: index, %[[LAST:[a-z0-9]+]]: index) attributes {{{.*}}mlir_fp8.parallel = 26240 : i64}
// CHECK: scf.for {{.*}} = %[[FIRST]] to %[[LAST]] step
// CHECK: func.func private @[[ROWS]]({{.*}}, %[[FIRST:[a-z0-9]+]]: index, %[[LAST:[a-z0-9]+]]: index) attributes {{{.*}}mlir_fp8.parallel = {{.*}} : i64}
// CHECK: func.func private @[[FUNCTIONS]]({{.*}}) attributes {{{.*}}mlir_fp8.parallel = {{.*}} : i64}
// CHECK-NOT: mlir_fp8.parallel
