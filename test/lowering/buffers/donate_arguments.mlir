// RUN: fp8-opt %s --protect-arguments --donate-arguments | FileCheck %s
// RUN: fp8-opt %s --lower-to-llvm-pipeline | FileCheck %s --check-prefix=LLVM

// The result is made in the argument, which is no result of native code.
// CHECK-LABEL: func.func @made(
// CHECK-SAME: %arg0: tensor<4xf32> {bufferization.writable = true}, %arg1: tensor<4xf32> {bufferization.writable = false}
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[IN:.*]] = bufferization.materialize_in_destination %[[SUM]] in %arg0
// CHECK-NEXT: return %[[IN]]
// LLVM-LABEL: llvm.func @made(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
func.func @made(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
    attributes {mlir_fp8.donated = array<i64: 0, 0>} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%arg0, %arg1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What is updated in place stays so; another result that may be the argument is a copy.
// CHECK-LABEL: func.func @updated(
// CHECK-NEXT: %[[OLD:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: %[[NEW:.*]] = tensor.insert
// CHECK-NEXT: return %[[OLD]], %[[NEW]]
// LLVM-LABEL: llvm.func @updated(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
func.func @updated(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mlir_fp8.donated = array<i64: 0, 1>} {
  %one = arith.constant 1.0 : f32
  %at = arith.constant 2 : index
  %0 = tensor.insert %one into %arg0[%at] : tensor<4xf32>
  return %arg0, %0 : tensor<4xf32>, tensor<4xf32>
}

// Two that change places: one is copied first.
// CHECK-LABEL: func.func @swapped(
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(
// CHECK: bufferization.materialize_in_destination
// CHECK: bufferization.materialize_in_destination %[[COPY]]
// LLVM-LABEL: llvm.func @swapped(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
func.func @swapped(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mlir_fp8.donated = array<i64: 0, 0, 1, 1>} {
  return %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
}

// Without the attribute nothing is donated.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME: bufferization.writable = false
// CHECK-NEXT: return %arg0
// LLVM-LABEL: llvm.func @kept(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
func.func @kept(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}

// -----

// A layer that updates the argument in place gives it back: nothing is copied or materialized.

// CHECK-LABEL: func.func private @layer(
// CHECK-LABEL: func.func @through_calls(
// CHECK-SAME:    bufferization.writable = true
// CHECK-NOT:     alloc_tensor
// CHECK-NOT:     materialize_in_destination
// CHECK:         %[[ONE:.*]] = call @layer(%arg0, %arg1)
// CHECK:         %[[TWO:.*]] = call @layer(%[[ONE]], %arg1)
// CHECK:         return %[[TWO]]
func.func private @layer(%a: tensor<4xf32>, %x: f32) -> tensor<4xf32> attributes {no_inline} {
  %zero = arith.constant 0 : index
  %0 = tensor.insert %x into %a[%zero] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @through_calls(%a: tensor<4xf32> {bufferization.writable = false}, %x: f32) -> tensor<4xf32>
    attributes {mlir_fp8.donated = array<i64: 0, 0>} {
  %0 = call @layer(%a, %x) : (tensor<4xf32>, f32) -> tensor<4xf32>
  %1 = call @layer(%0, %x) : (tensor<4xf32>, f32) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
