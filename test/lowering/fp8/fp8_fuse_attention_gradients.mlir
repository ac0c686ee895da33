// RUN: fp8-opt %s --fp8-fuse-attention-gradients | filecheck %s
// RUN: fp8-opt %s --fp8-fuse-attention-gradients=remarks 2>&1 | filecheck %s --check-prefix=SAID

// CHECK-LABEL: func.func @training(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x4x8xf32>, %[[K:.*]]: tensor<2x6x8xf32>, %[[V:.*]]: tensor<2x6x3xf32>, %[[G:.*]]: tensor<2x4x3xf32>
// CHECK:         "fp8.attention"
// CHECK-SAME:      lse
// CHECK-SAME:      scale = 5.000000e-01 : f32
// CHECK-SAME:      (tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x3xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x2x4xf32>)
// CHECK:         "fp8.attention_backward"
// CHECK-SAME:      {scale = 5.000000e-01 : f32}
// CHECK-NOT:     stablehlo.dot_general
// CHECK:         return
// SAID: remark: attention with gradients is two ops
func.func @training(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>, %g: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>) {
  %half = stablehlo.constant dense<0.5> : tensor<2x4x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %dot = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
  %x = stablehlo.multiply %dot, %half : tensor<2x4x6xf32>
  %most = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
  %mosts = stablehlo.broadcast_in_dim %most, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x6xf32>
  %less = stablehlo.subtract %x, %mosts : tensor<2x4x6xf32>
  %e = stablehlo.exponential %less : tensor<2x4x6xf32>
  %total = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
  %totals = stablehlo.broadcast_in_dim %total, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x6xf32>
  %p = stablehlo.divide %e, %totals : tensor<2x4x6xf32>
  %out = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
  %dv = stablehlo.dot_general %p, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x4x6xf32>, tensor<2x4x3xf32>) -> tensor<2x6x3xf32>
  %dp = stablehlo.dot_general %g, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x4x3xf32>, tensor<2x6x3xf32>) -> tensor<2x4x6xf32>
  %both = stablehlo.multiply %p, %dp : tensor<2x4x6xf32>
  %mean = stablehlo.reduce(%both init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x6xf32>
  %apart = stablehlo.subtract %dp, %means : tensor<2x4x6xf32>
  %dx = stablehlo.multiply %p, %apart : tensor<2x4x6xf32>
  %ds = stablehlo.multiply %half, %dx : tensor<2x4x6xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x6xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x4x6xf32>, tensor<2x4x8xf32>) -> tensor<2x6x8xf32>
  return %out, %dq, %dk, %dv : tensor<2x4x3xf32>, tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>
}
