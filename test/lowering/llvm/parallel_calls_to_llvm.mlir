// RUN: fp8-opt %s --parallel-calls-to-llvm="threads=3" | FileCheck %s

// CHECK-LABEL: llvm.func @main(
// CHECK-NEXT: %[[BEGIN:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK-NEXT: %[[END:.*]] = llvm.mlir.constant(9 : i64) : i64
// CHECK-NEXT: llvm.call @loops_0(%arg0, %arg1, %[[BEGIN]], %[[END]]) : (!llvm.ptr, f32, i64, i64) -> ()
// CHECK-NEXT: llvm.call @loops_1(%arg0) : (!llvm.ptr) -> ()
llvm.func @main(%a: !llvm.ptr, %x: f32) {
  %begin = llvm.mlir.constant(0 : i64) : i64
  %end = llvm.mlir.constant(9 : i64) : i64
  llvm.call @loops_0(%a, %x, %begin, %end) : (!llvm.ptr, f32, i64, i64) -> ()
  llvm.call @loops_1(%a) : (!llvm.ptr) -> ()
  llvm.return
}

llvm.func internal @loops_0(%a: !llvm.ptr, %x: f32, %begin: i64, %end: i64) attributes {mlir_fp8.parallel = 4 : i64} {
  llvm.return
}

llvm.func internal @loops_1(%a: !llvm.ptr) {
  llvm.return
}

// CHECK: llvm.func internal @loops_0.range(%arg0: !llvm.ptr, %arg1: f32, %arg2: i64, %arg3: i64)

// CHECK: llvm.func @_mlir_ciface_fp8_parallel_for(!llvm.ptr, !llvm.ptr, i64, i64, i64)
// CHECK: llvm.func internal @loops_0(%arg0: !llvm.ptr, %arg1: f32, %arg2: i64, %arg3: i64) attributes {no_inline}
// CHECK-DAG: %[[GRAIN:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(3 : i64) : i64
// CHECK: %[[ARGUMENTS:.*]] = llvm.alloca
// CHECK: llvm.store %arg0
// CHECK: llvm.store %arg1
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @loops_0.task
// CHECK: llvm.call @_mlir_ciface_fp8_parallel_for(%[[TASK]], %[[ARGUMENTS]], %arg3, %[[GRAIN]], %[[THREADS]])
// CHECK: llvm.func internal @loops_0.task(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// CHECK: %[[A:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> f32
// CHECK: llvm.call @loops_0.range(%[[A]], %[[X]], %arg1, %arg2)
