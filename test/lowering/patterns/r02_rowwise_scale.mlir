// XLA:GPU: REJECT. Scale is a vector (per row); rewriter demands a scalar.
// Fused here: scales may be one per row and column.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[A:.*]] = stablehlo.reshape %arg2 : (tensor<64xf32>) -> tensor<64x1xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg3 : (tensor<32xf32>) -> tensor<1x32xf32>
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %[[A]], %[[B]]) {{.*}}operand_type = f32}
// CHECK-NEXT: return

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<64xf32>, %sb: tensor<32xf32>) -> tensor<64x32xf32> {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
  %as = stablehlo.broadcast_in_dim %sa, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %ad = stablehlo.multiply %aw, %as : tensor<64x128xf32>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xf32>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [1] : (tensor<32xf32>) -> tensor<128x32xf32>
  %bd = stablehlo.multiply %bw, %bs : tensor<128x32xf32>
  %d = stablehlo.dot_general %ad, %bd, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}
