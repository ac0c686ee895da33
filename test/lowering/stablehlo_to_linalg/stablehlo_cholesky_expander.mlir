// RUN: fp8-opt %s --stablehlo-cholesky-expander | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.cholesky
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} batching_dims = [0] x [0], contracting_dims = [2] x [2]
// CHECK: stablehlo.sqrt
// CHECK: stablehlo.dynamic_update_slice
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
