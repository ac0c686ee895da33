// XLA:GPU: PARTIAL. Clamp bounds are not exactly +-448 (E4M3FN) / +-57344 (E5M2): output quantize not fused.
// Here, too: the operands fuse, the output does not.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: output: stablehlo.clamp before the convert to f8E4M3FN has the bounds -440 and 440, not -448 and 448 [clamp-bounds]; clamp to -448 and 448
// CHECK-NOT: remark:
// CHECK: %[[D:.*]] = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {{.*}} -> tensor<64x32xf32>
// CHECK: stablehlo.divide %[[D]],
// CHECK: stablehlo.clamp
// CHECK-NEXT: stablehlo.convert

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<f32>, %sb: tensor<f32>, %sd: tensor<f32>) -> tensor<64x32xf8E4M3FN> {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
  %as = stablehlo.broadcast_in_dim %sa, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
  %ad = stablehlo.multiply %aw, %as : tensor<64x128xf32>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xf32>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<f32>) -> tensor<128x32xf32>
  %bd = stablehlo.multiply %bw, %bs : tensor<128x32xf32>
  %d = stablehlo.dot_general %ad, %bd, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %ds = stablehlo.broadcast_in_dim %sd, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
  %sc = stablehlo.divide %d, %ds : tensor<64x32xf32>
  %lo = stablehlo.constant dense<-440.0> : tensor<f32>
  %hi = stablehlo.constant dense<440.0> : tensor<f32>
  %cl = stablehlo.clamp %lo, %sc, %hi : (tensor<f32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %q = stablehlo.convert %cl : (tensor<64x32xf32>) -> tensor<64x32xf8E4M3FN>
  return %q : tensor<64x32xf8E4M3FN>
}
