// RUN: fp8-opt %s --protect-arguments | FileCheck %s
// RUN: fp8-opt %s --lower-to-llvm-pipeline | FileCheck %s --check-prefix=LLVM

// Tensor arguments only; other attributes stay, and what a producer said of writing does not.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<4xf8E4M3FN> {bufferization.writable = false, jax.name = "x"}, %arg1: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf8E4M3FN> {jax.name = "y"}) {
func.func @main(%arg0: tensor<4xf8E4M3FN> {jax.name = "x"},
                %arg1: tensor<4xf32> {bufferization.writable = true})
    -> (tensor<4xf8E4M3FN> {jax.name = "y"}) {
  return %arg0 : tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func.func @no_arguments() -> i32 {
func.func @no_arguments() -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}

// CHECK-LABEL: func.func private @declared(tensor<4xf32>)
func.func private @declared(tensor<4xf32>)

// CHECK-LABEL: func.func @scalar(%arg0: f32, %arg1: memref<4xf32>) {
func.func @scalar(%arg0: f32, %arg1: memref<4xf32>) {
  return
}

// A result returned twice becomes two buffers.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add
// CHECK-NEXT: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[SUM]]) : tensor<4xf32>
// CHECK-NEXT: return %[[SUM]], %[[COPY]] : tensor<4xf32>, tensor<4xf32>
// LLVM-LABEL: llvm.func @twice(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr)
func.func @twice(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
