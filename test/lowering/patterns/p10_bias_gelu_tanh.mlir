// XLA:GPU: MATCH on CUDA>=12.4. tanh-GELU after bias; BIAS_GELU (..._AUX if the pre-activation has other users).
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {activation = "gelu_tanh", {{.*}}dot_type = bf16, {{.*}}operand_type = bf16} : {{.*}} -> tensor<64x32xbf16>
// CHECK-NEXT: return

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<bf16>, %sb: tensor<bf16>, %bias: tensor<32xbf16>) -> tensor<64x32xbf16> {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
  %as = stablehlo.broadcast_in_dim %sa, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
  %ad = stablehlo.multiply %aw, %as : tensor<64x128xbf16>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xbf16>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<bf16>) -> tensor<128x32xbf16>
  %bd = stablehlo.multiply %bw, %bs : tensor<128x32xbf16>
  %d = stablehlo.dot_general %ad, %bd, contracting_dims = [1] x [0] : (tensor<64x128xbf16>, tensor<128x32xbf16>) -> tensor<64x32xbf16>
  %bb = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<32xbf16>) -> tensor<64x32xbf16>
  %x = stablehlo.add %d, %bb : tensor<64x32xbf16>
  %x2 = stablehlo.multiply %x, %x : tensor<64x32xbf16>
  %x3 = stablehlo.multiply %x, %x2 : tensor<64x32xbf16>
  %k0 = stablehlo.constant dense<4.467770e-02> : tensor<64x32xbf16>
  %t0 = stablehlo.multiply %x3, %k0 : tensor<64x32xbf16>
  %t1 = stablehlo.add %x, %t0 : tensor<64x32xbf16>
  %k1 = stablehlo.constant dense<7.968750e-01> : tensor<64x32xbf16>
  %t2 = stablehlo.multiply %t1, %k1 : tensor<64x32xbf16>
  %t3 = stablehlo.tanh %t2 : tensor<64x32xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<64x32xbf16>
  %t4 = stablehlo.add %t3, %one : tensor<64x32xbf16>
  %half = stablehlo.constant dense<5.0e-01> : tensor<64x32xbf16>
  %cdf = stablehlo.multiply %t4, %half : tensor<64x32xbf16>
  %r = stablehlo.multiply %x, %cdf : tensor<64x32xbf16>
  return %r : tensor<64x32xbf16>
}
