// What JAX's and PyTorch's programs give: test_fuse_attention.py.
// RUN: fp8-opt %s --split-input-file --fp8-fuse-attention=remarks 2>&1 | FileCheck %s
// RUN: fp8-opt %s --split-input-file --fp8-fuse-attention --fp8-legalize-to-stablehlo --fp8-fuse-attention | FileCheck %s --check-prefix=AGAIN

// Remarks of all come first.
// CHECK: fp8_fuse_attention.mlir:38:9: remark: softmax tensor<1x2x4x6xf32> -> tensor<1x2x4x6xf32>: fused into fp8.attention
// CHECK-NEXT: remark: softmax tensor<1x2x4x6xf32> -> tensor<1x2x4x6xf32>: not fused
// CHECK-NEXT: remark: scores: stablehlo.tanh stands between the scores and the softmax [score-op]; leave it out: fp8.attention has no such step
// CHECK-NEXT: remark: softmax tensor<?x4x6xf32> -> tensor<?x4x6xf32>: not fused
// CHECK-NEXT: remark: softmax: the softmax is of tensor<?x4x6xf32>, a dynamic shape [open-shape]; refine shapes first
// CHECK-NOT: remark:

// Sums scaled, a causal mask that starts where an argument says, P in f8 by the constant 448.
// CHECK-LABEL: func.func @f8(
// CHECK-NEXT: %[[OUT:.*]] = "fp8.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 1>, p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 2.500000e-01 : f32} : {{.*}} -> tensor<1x2x4x8xbf16>
// CHECK-NEXT: return %[[OUT]]
// AGAIN-LABEL: func.func @f8(
// AGAIN-NEXT: "fp8.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 1>, p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 2.500000e-01 : f32}
// AGAIN-NEXT: return
func.func @f8(%q: tensor<1x2x4x8xf8E4M3FN>, %k: tensor<1x2x6x8xf8E4M3FN>, %v: tensor<1x2x6x8xf8E4M3FN>, %s: tensor<f32>, %vs: tensor<f32>, %at: tensor<i32>) -> tensor<1x2x4x8xbf16> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<1x2x4x8xf8E4M3FN>, tensor<1x2x6x8xf8E4M3FN>) -> tensor<1x2x4x6xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1x2x4x6xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<1x2x4x6xf32>
  %quarter = stablehlo.constant dense<0.25> : tensor<1x2x4x6xf32>
  %3 = stablehlo.multiply %2, %quarter : tensor<1x2x4x6xf32>
  %rows = stablehlo.iota dim = 0 : tensor<4x6xi32>
  %keys = stablehlo.iota dim = 1 : tensor<4x6xi32>
  %first = stablehlo.broadcast_in_dim %at, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
  %places = stablehlo.add %first, %rows : tensor<4x6xi32>
  %4 = stablehlo.compare GE, %places, %keys : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
  %5 = stablehlo.broadcast_in_dim %4, dims = [2, 3] : (tensor<4x6xi1>) -> tensor<1x2x4x6xi1>
  %hidden = stablehlo.constant dense<0xFF800000> : tensor<1x2x4x6xf32>
  %6 = stablehlo.select %5, %3, %hidden : tensor<1x2x4x6xi1>, tensor<1x2x4x6xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %7 = stablehlo.reduce(%6 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x4x6xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x2x4xf32>) -> tensor<1x2x4x6xf32>
  %9 = stablehlo.subtract %6, %8 : tensor<1x2x4x6xf32>
  %10 = stablehlo.exponential %9 : tensor<1x2x4x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x4x6xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<1x2x4xf32>) -> tensor<1x2x4x6xf32>
  %13 = stablehlo.divide %10, %12 : tensor<1x2x4x6xf32>
  %range = stablehlo.constant dense<448.0> : tensor<f32>
  %14 = stablehlo.broadcast_in_dim %range, dims = [] : (tensor<f32>) -> tensor<1x2x4x6xf32>
  %15 = stablehlo.multiply %13, %14 : tensor<1x2x4x6xf32>
  %16 = stablehlo.minimum %15, %14 : tensor<1x2x4x6xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<1x2x4x6xf32>
  %17 = stablehlo.maximum %16, %low : tensor<1x2x4x6xf32>
  %18 = stablehlo.convert %17 : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf8E4M3FN>
  %19 = stablehlo.dot_general %18, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [HIGHEST, HIGHEST] : (tensor<1x2x4x6xf8E4M3FN>, tensor<1x2x6x8xf8E4M3FN>) -> tensor<1x2x4x8xf32>
  %20 = stablehlo.broadcast_in_dim %vs, dims = [] : (tensor<f32>) -> tensor<1x2x4x8xf32>
  %21 = stablehlo.multiply %19, %20 : tensor<1x2x4x8xf32>
  %22 = stablehlo.convert %21 : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xbf16>
  return %22 : tensor<1x2x4x8xbf16>
}

// -----

// Capped scores are no step of the op.
// CHECK-LABEL: func.func @capped(
// CHECK-NOT: fp8.attention
// CHECK: stablehlo.tanh
func.func @capped(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x6xf32>
  %1 = stablehlo.tanh %0 : tensor<1x2x4x6xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x4x6xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x2x4xf32>) -> tensor<1x2x4x6xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<1x2x4x6xf32>
  %5 = stablehlo.exponential %4 : tensor<1x2x4x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x2x4x6xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x2x4xf32>) -> tensor<1x2x4x6xf32>
  %8 = stablehlo.divide %5, %7 : tensor<1x2x4x6xf32>
  %9 = stablehlo.dot_general %8, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<1x2x4x6xf32>, tensor<1x2x6x8xf32>) -> tensor<1x2x4x8xf32>
  return %9 : tensor<1x2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @open(
// CHECK-NOT: fp8.attention
func.func @open(%q: tensor<?x4x8xf32>, %k: tensor<?x6x8xf32>, %v: tensor<?x6x8xf32>) -> tensor<?x4x8xf32> {
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x4x8xf32>, tensor<?x6x8xf32>) -> tensor<?x4x6xf32>
  %1 = stablehlo.exponential %0 : tensor<?x4x6xf32>
  %2 = stablehlo.dot_general %1, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x4x6xf32>, tensor<?x6x8xf32>) -> tensor<?x4x8xf32>
  return %2 : tensor<?x4x8xf32>
}
