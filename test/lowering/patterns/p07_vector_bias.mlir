// XLA:GPU: MATCH. Bias broadcast along the minor (N) dim, bf16/f16 element type; epilogue BIAS.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {{.*}}dot_type = bf16, {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>, operand_type = bf16} : {{.*}}, tensor<32xbf16>) -> tensor<64x32xbf16>
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
  %r = stablehlo.add %d, %bb : tensor<64x32xbf16>
  return %r : tensor<64x32xbf16>
}
