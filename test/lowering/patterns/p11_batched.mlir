// XLA:GPU: MATCH. One leading batch dim; exactly one contracting and one free dim each; batch count must stay <= 65535.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], {{.*}} -> tensor<6x64x32xf32>
// CHECK-NEXT: return

func.func @main(%a: tensor<6x64x128xf8E4M3FN>, %b: tensor<6x128x32xf8E4M3FN>, %sa: tensor<f32>, %sb: tensor<f32>) -> tensor<6x64x32xf32> {
  %aw = stablehlo.convert %a : (tensor<6x64x128xf8E4M3FN>) -> tensor<6x64x128xf32>
  %as = stablehlo.broadcast_in_dim %sa, dims = [] : (tensor<f32>) -> tensor<6x64x128xf32>
  %ad = stablehlo.multiply %aw, %as : tensor<6x64x128xf32>
  %bw = stablehlo.convert %b : (tensor<6x128x32xf8E4M3FN>) -> tensor<6x128x32xf32>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<f32>) -> tensor<6x128x32xf32>
  %bd = stablehlo.multiply %bw, %bs : tensor<6x128x32xf32>
  %d = stablehlo.dot_general %ad, %bd, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x64x128xf32>, tensor<6x128x32xf32>) -> tensor<6x64x32xf32>
  return %d : tensor<6x64x32xf32>
}
