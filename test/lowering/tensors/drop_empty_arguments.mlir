// RUN: fp8-opt %s --allow-unregistered-dialect --drop-empty-arguments | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<2xf32> {jax.name = "b"}) -> (tensor<2xf32> {jax.name = "r1"}) {
// CHECK-NEXT: %0 = tensor.empty() : tensor<2x0xf32>
// CHECK-NEXT: %1 = "test.op"(%0)
// CHECK-NEXT: return %arg0 : tensor<2xf32>
func.func @main(%arg0: tensor<2x0xf32> {jax.name = "a"}, %arg1: tensor<2xf32> {jax.name = "b"})
    -> (tensor<2x0xf32> {jax.name = "r0"}, tensor<2xf32> {jax.name = "r1"}) {
  %0 = "test.op"(%arg0) : (tensor<2x0xf32>) -> tensor<2x0xf32>
  return %0, %arg1 : tensor<2x0xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func private @helper(%arg0: tensor<0xf32>)
func.func private @helper(%arg0: tensor<0xf32>) -> tensor<0xf32> {
  return %arg0 : tensor<0xf32>
}

// CHECK-LABEL: func.func @rank_zero(%arg0: tensor<f32>, %arg1: tensor<?xf32>) -> tensor<f32>
func.func @rank_zero(%arg0: tensor<f32>, %arg1: tensor<?xf32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
