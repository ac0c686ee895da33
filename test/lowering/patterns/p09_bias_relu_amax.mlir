// XLA:GPU: MATCH. Bias + ReLU epilogue (BIAS_RELU); amax needs no abs because the values are nonnegative; then scaled fp8 D.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[D:.*]]:2 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {activation = "relu", amax, {{.*}}dot_type = bf16, {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1>, operand_type = bf16, saturate} : {{.*}} -> (tensor<64x32xf8E4M3FN>, tensor<bf16>)
// CHECK-NEXT: return %[[D]]#0, %[[D]]#1

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<bf16>, %sb: tensor<bf16>, %bias: tensor<32xbf16>, %sd: tensor<bf16>) -> (tensor<64x32xf8E4M3FN>, tensor<bf16>) {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
  %as = stablehlo.broadcast_in_dim %sa, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
  %ad = stablehlo.multiply %aw, %as : tensor<64x128xbf16>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xbf16>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<bf16>) -> tensor<128x32xbf16>
  %bd = stablehlo.multiply %bw, %bs : tensor<128x32xbf16>
  %d = stablehlo.dot_general %ad, %bd, contracting_dims = [1] x [0] : (tensor<64x128xbf16>, tensor<128x32xbf16>) -> tensor<64x32xbf16>
  %bb = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<32xbf16>) -> tensor<64x32xbf16>
  %pre = stablehlo.add %d, %bb : tensor<64x32xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<64x32xbf16>
  %act = stablehlo.maximum %pre, %z : tensor<64x32xbf16>
  %ninf = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %am = stablehlo.reduce(%act init: %ninf) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x32xbf16>, tensor<bf16>) -> tensor<bf16>
  %ds = stablehlo.broadcast_in_dim %sd, dims = [] : (tensor<bf16>) -> tensor<64x32xbf16>
  %sc = stablehlo.divide %act, %ds : tensor<64x32xbf16>
  %lo = stablehlo.constant dense<-448.0> : tensor<bf16>
  %hi = stablehlo.constant dense<448.0> : tensor<bf16>
  %cl = stablehlo.clamp %lo, %sc, %hi : (tensor<bf16>, tensor<64x32xbf16>, tensor<bf16>) -> tensor<64x32xbf16>
  %q = stablehlo.convert %cl : (tensor<64x32xbf16>) -> tensor<64x32xf8E4M3FN>
  return %q, %am : tensor<64x32xf8E4M3FN>, tensor<bf16>
}
