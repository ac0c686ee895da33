// XLA:GPU: MATCH. Widening convert without a scale; scales default to 1.0.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1) {dot_dimension_numbers = {{[^{}]*}}fast_accum, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : {{.*}} -> tensor<64x32xf32>
// CHECK-NEXT: return

func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>) -> tensor<64x32xf32> {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xf32>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xf32>
  %d = stablehlo.dot_general %aw, %bw, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}
