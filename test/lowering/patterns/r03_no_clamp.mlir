// XLA:GPU: PARTIAL. Inputs fuse; the output quantize does not, because there is no clamp.
// Fused whole here, without saturation: the convert overflows as it did.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {dot_dimension_numbers = {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>, operand_type = f32} : {{.*}} -> tensor<64x32xf8E4M3FN>
// CHECK-NEXT: return

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
  %q = stablehlo.convert %sc : (tensor<64x32xf32>) -> tensor<64x32xf8E4M3FN>
  return %q : tensor<64x32xf8E4M3FN>
}
