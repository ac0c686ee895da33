// XLA:GPU: MATCH. Unscaled: both dot operands already fp8, fp8 result. Rewrite uses scale 1.0 for A and B.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1) {dot_dimension_numbers = {{[^{}]*}}fast_accum, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : {{.*}} -> tensor<64x32xf8E4M3FN>
// CHECK-NEXT: return

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>) -> tensor<64x32xf8E4M3FN> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>) -> tensor<64x32xf8E4M3FN>
  return %d : tensor<64x32xf8E4M3FN>
}
