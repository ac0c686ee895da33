// Each function holds one form; what becomes of it is printed first, in the order of the text.
// Programs that must stay as they are: test/lowering/fp8/scaled_dot_near_miss.py.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s
// RUN: fp8-opt %s --fp8-fuse-scaled-dot="assume-finite-scales remarks" 2>&1 | FileCheck %s --check-prefix=FINITE

// A location after inlining is that of the op in the function that was called.
// CHECK: fp8_fuse_scaled_dot.mlir:[[CLAMPED:[0-9]+]]:8: remark: dot_general tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot tensor<8xf32>, tensor<8xf32> -> tensor<f32>: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NEXT: remark: convolution {{.*}}: fused into fp8.scaled_convolution
// CHECK-NEXT: remark: dot_general tensor<3x8xf32>, tensor<8x6xf32> -> tensor<3x6xf32>: not fused
// CHECK-NEXT: remark: lhs: stablehlo.pad adds zeros to scaled data, but zero times an infinite scale is NaN [zeros-after-scale]; apply stablehlo.pad to the f8 tensor, or run the pass with assume-finite-scales
// CHECK-NEXT: remark: dot_general tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>: not fused
// CHECK-NEXT: remark: lhs: lhs is tensor<4x8xf32>, an argument, not FP8 data [not-fp8]; quantize lhs to f8 with a scale, and dequantize it before the dot
// CHECK-NEXT: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:

// FINITE-NOT: [zeros-after-scale]
// FINITE-LABEL: func.func @padded(
// FINITE: %[[PADDED:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3x8xf8E4M3FN>
// FINITE: "fp8.scaled_dot"(%[[PADDED]], %arg1, %arg2) {{.*}}operand_type = f32}

// CHECK-LABEL: func.func @through_calls(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2) {activation = "relu", {{.*}}operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1>, saturate}
// CHECK-NEXT: return
func.func @through_calls(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %s: tensor<f32>) -> tensor<4x6xf8E4M3FN> {
  %0 = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %1 = stablehlo.convert %b : (tensor<8x6xf8E4M3FN>) -> tensor<8x6xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %3 = call @relu(%2) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %5 = stablehlo.divide %3, %4 : tensor<4x6xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<f32>
  %high = stablehlo.constant dense<448.0> : tensor<f32>
  %6 = call @clip(%5, %low, %high) : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
  %7 = stablehlo.convert %6 : (tensor<4x6xf32>) -> tensor<4x6xf8E4M3FN>
  return %7 : tensor<4x6xf8E4M3FN>
}
func.func private @relu(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %2 = stablehlo.maximum %x, %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
func.func private @clip(%x: tensor<4x6xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<4x6xf32> {
  %0 = stablehlo.convert %low : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %2 = stablehlo.maximum %1, %x : tensor<4x6xf32>
  %3 = stablehlo.broadcast_in_dim %high, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %4 = stablehlo.minimum %3, %2 : tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

// Both operands of the old dot op are one value; the scale is one element of a vector.
// CHECK-LABEL: func.func @one_vector(
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg1 : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg0, %[[S]], %[[S]]) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, {{.*}} -> tensor<f32>
func.func @one_vector(%a: tensor<8xf8E4M3FN>, %s: tensor<1xf32>) -> tensor<f32> {
  %0 = stablehlo.convert %a : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8xf32>
  %3 = stablehlo.dot %2, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// MX: blocks of 32 with E8M0 scales, the data split and joined again.
// CHECK-LABEL: func.func @mx(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2) {{.*}}operand_type = bf16} : (tensor<4x64xf8E4M3FN>, tensor<64x6xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x6xf32>
// CHECK-NEXT: return
func.func @mx(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x6xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>) -> tensor<4x6xf32> {
  %0 = stablehlo.reshape %a : (tensor<4x64xf8E4M3FN>) -> tensor<4x2x32xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<4x2x32xf8E4M3FN>) -> tensor<4x2x32xbf16>
  %2 = stablehlo.convert %s : (tensor<4x2xf8E8M0FNU>) -> tensor<4x2xbf16>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x2xbf16>) -> tensor<4x2x32xbf16>
  %4 = stablehlo.multiply %3, %1 : tensor<4x2x32xbf16>
  %5 = stablehlo.reshape %4 : (tensor<4x2x32xbf16>) -> tensor<4x64xbf16>
  %6 = stablehlo.convert %b : (tensor<64x6xf8E4M3FN>) -> tensor<64x6xbf16>
  %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0] : (tensor<4x64xbf16>, tensor<64x6xbf16>) -> tensor<4x6xf32>
  return %7 : tensor<4x6xf32>
}

// 128x128 blocks, written as repeats along both dimensions; the transpose moves the scales, too.
// CHECK-LABEL: func.func @blocks_transposed(
// CHECK-NEXT: %[[S:.*]] = stablehlo.reshape %arg2 : (tensor<2x1xf32>) -> tensor<1x2xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<256x128xf8E4M3FN>) -> tensor<128x256xf8E4M3FN>
// CHECK-NEXT: "fp8.scaled_dot"(%[[A]], %arg1, %[[S]]) {a_inverse, {{.*}}operand_type = f32}
func.func @blocks_transposed(%a: tensor<256x128xf8E4M3FN>, %b: tensor<256x6xf8E5M2>, %s: tensor<2x1xf32>) -> tensor<128x6xf32> {
  %0 = stablehlo.convert %a : (tensor<256x128xf8E4M3FN>) -> tensor<256x128xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x128x1xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x128x1xf32>) -> tensor<256x1xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x1x128xf32>
  %4 = stablehlo.reshape %3 : (tensor<256x1x128xf32>) -> tensor<256x128xf32>
  %5 = stablehlo.divide %0, %4 : tensor<256x128xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<256x128xf32>) -> tensor<128x256xf32>
  %7 = stablehlo.convert %b : (tensor<256x6xf8E5M2>) -> tensor<256x6xf32>
  %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<128x256xf32>, tensor<256x6xf32>) -> tensor<128x6xf32>
  return %8 : tensor<128x6xf32>
}

// f8 products summed, then scaled per row and per column: scales of the operands, in that order.
// CHECK-LABEL: func.func @scaled_sum(
// CHECK-DAG: %[[ROWS:.*]] = stablehlo.reshape %arg2 : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-DAG: %[[COLUMNS:.*]] = stablehlo.reshape %arg3 : (tensor<6xf32>) -> tensor<1x6xf32>
// CHECK: "fp8.scaled_dot"(%arg0, %arg1, %[[ROWS]], %[[COLUMNS]]) {b_inverse, dot_dimension_numbers = {{[^{}]*}}dot_type = bf16, fast_accum, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : {{.*}} -> tensor<4x6xbf16>
// CHECK-NEXT: return
func.func @scaled_sum(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %rows: tensor<4xf32>, %columns: tensor<6xf32>) -> tensor<4x6xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> tensor<4x6xf32>
  %1 = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<4x6xf32>
  %3 = stablehlo.broadcast_in_dim %columns, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %4 = stablehlo.divide %2, %3 : tensor<4x6xf32>
  %5 = stablehlo.convert %4 : (tensor<4x6xf32>) -> tensor<4x6xbf16>
  return %5 : tensor<4x6xbf16>
}

// A product in f32 of bf16 numbers, rounded to bf16, is a product in bf16. The sum becomes f32.
// CHECK-LABEL: func.func @rounding(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {alpha = 2.500000e-01 : f32, beta = 5.000000e-01 : f32, {{.*}}dot_type = bf16, epilogue_type = f32, {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, operand_type = bf16} : {{.*}}, tensor<bf16>, tensor<4x6xbf16>, tensor<6xf16>) -> tensor<4x6xf32>
// CHECK-NEXT: return
func.func @rounding(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %s: tensor<bf16>, %c: tensor<4x6xbf16>, %v: tensor<6xf16>) -> tensor<4x6xf32> {
  %0 = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %1 = stablehlo.convert %s : (tensor<bf16>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<4x8xf32>
  %4 = stablehlo.convert %3 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %5 = stablehlo.convert %b : (tensor<8x6xf8E4M3FN>) -> tensor<8x6xbf16>
  %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
  %7 = stablehlo.convert %6 : (tensor<4x6xbf16>) -> tensor<4x6xf32>
  %four = stablehlo.constant dense<4.0> : tensor<4x6xf32>
  %8 = stablehlo.divide %7, %four : tensor<4x6xf32>
  %9 = stablehlo.convert %c : (tensor<4x6xbf16>) -> tensor<4x6xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4x6xf32>
  %10 = stablehlo.multiply %half, %9 : tensor<4x6xf32>
  %11 = stablehlo.add %10, %8 : tensor<4x6xf32>
  %12 = stablehlo.convert %v : (tensor<6xf16>) -> tensor<6xf32>
  %13 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %14 = stablehlo.add %13, %11 : tensor<4x6xf32>
  return %14 : tensor<4x6xf32>
}

// Moves after the dequantize move the f8 tensor; a constant scale is one number, and lets zeros in.
// CHECK-LABEL: func.func @moved(
// CHECK-NEXT: %[[SCALE:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[CUT:.*]] = stablehlo.slice %arg0 [0:2, 0:8] : (tensor<4x8xf8E4M3FN>) -> tensor<2x8xf8E4M3FN>
// CHECK-NEXT: %[[TURNED:.*]] = stablehlo.reverse %[[CUT]], dims = [0] : tensor<2x8xf8E4M3FN>
// CHECK: %[[PADDED:.*]] = stablehlo.pad %[[TURNED]], %{{.*}} : (tensor<2x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3x8xf8E4M3FN>
// CHECK: %[[CHOSEN:.*]] = stablehlo.select %arg2, %[[PADDED]], %{{.*}} : tensor<3x8xi1>, tensor<3x8xf8E4M3FN>
// CHECK-NEXT: "fp8.scaled_dot"(%[[CHOSEN]], %arg1, %[[SCALE]])
// CHECK-NEXT: return
func.func @moved(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %p: tensor<3x8xi1>) -> tensor<3x6xf32> {
  %0 = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %1 = stablehlo.constant dense<0.5> : tensor<4x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4x8xf32>
  %3 = stablehlo.slice %2 [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<2x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.pad %4, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
  %6 = stablehlo.select %p, %5, %zeros : tensor<3x8xi1>, tensor<3x8xf32>
  %7 = stablehlo.convert %b : (tensor<8x6xf8E4M3FN>) -> tensor<8x6xf32>
  %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  return %8 : tensor<3x6xf32>
}

// What uses amax before the end of the fused op moves behind it. Two contracting dimensions.
// CHECK-LABEL: func.func @amax_used_early(
// CHECK-NEXT: %[[D:.*]]:2 = "fp8.scaled_dot"(%arg0, %arg1, %arg2) {amax, d_inverse, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1]>, {{.*}}saturate}
// CHECK-NEXT: %[[NEW:.*]] = stablehlo.add %[[D]]#1, %arg2 : tensor<f32>
// CHECK-NEXT: return %[[D]]#0, %[[NEW]]
func.func @amax_used_early(%a: tensor<4x2x4xf8E4M3FN>, %b: tensor<2x4x6xf8E4M3FN>, %s: tensor<f32>) -> (tensor<4x6xf8E5M2>, tensor<f32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1, 2] x [0, 1] : (tensor<4x2x4xf8E4M3FN>, tensor<2x4x6xf8E4M3FN>) -> tensor<4x6xf32>
  %1 = stablehlo.abs %0 : tensor<4x6xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %init) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.add %2, %s : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %5 = stablehlo.multiply %0, %4 : tensor<4x6xf32>
  %low = stablehlo.constant dense<-57344.0> : tensor<4x6xf32>
  %high = stablehlo.constant dense<57344.0> : tensor<4x6xf32>
  %6 = stablehlo.minimum %5, %high : tensor<4x6xf32>
  %7 = stablehlo.maximum %6, %low : tensor<4x6xf32>
  %8 = stablehlo.convert %7 : (tensor<4x6xf32>) -> tensor<4x6xf8E5M2>
  return %8, %3 : tensor<4x6xf8E5M2>, tensor<f32>
}

// Ops of the dialect on both sides, and jax.nn.gelu(approximate=False).
// CHECK-LABEL: func.func @own_ops(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {activation = "gelu_erf", b_inverse, d_inverse, {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>, operand_type = f32, saturate}
// CHECK-NEXT: return
func.func @own_ops(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %s: tensor<4x1xf32>, %t: tensor<f16>, %d: tensor<f32>) -> tensor<4x6xf8E4M3FN> {
  %0 = "fp8.dequantize"(%a, %s) : (tensor<4x8xf8E4M3FN>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %1 = "fp8.dequantize"(%b, %t) {inverse} : (tensor<8x6xf8E4M3FN>, tensor<f16>) -> tensor<8x6xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4x6xf32>
  %3 = stablehlo.multiply %half, %2 : tensor<4x6xf32>
  %4 = stablehlo.negate %2 : tensor<4x6xf32>
  %root = stablehlo.constant dense<0.707106769> : tensor<4x6xf32>
  %5 = stablehlo.multiply %4, %root : tensor<4x6xf32>
  %6 = chlo.erfc %5 : tensor<4x6xf32> -> tensor<4x6xf32>
  %7 = stablehlo.multiply %3, %6 : tensor<4x6xf32>
  %8 = "fp8.quantize"(%7, %d) {inverse, saturate} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf8E4M3FN>
  return %8 : tensor<4x6xf8E4M3FN>
}

// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT: "fp8.scaled_convolution"(%arg0, %arg1, %arg2, %arg3, %arg4) {activation = "relu", b_inverse, batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, {{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>, operand_type = f32, {{.*}} -> tensor<1x5x6xf32>
// CHECK-NEXT: return
func.func @convolution(%a: tensor<1x5x2xf8E4M3FN>, %b: tensor<3x2x6xf8E4M3FN>, %s: tensor<f32>, %t: tensor<f32>, %v: tensor<6xf32>) -> tensor<1x5x6xf32> {
  %0 = stablehlo.convert %a : (tensor<1x5x2xf8E4M3FN>) -> tensor<1x5x2xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1x5x2xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<1x5x2xf32>
  %3 = stablehlo.convert %b : (tensor<3x2x6xf8E4M3FN>) -> tensor<3x2x6xf32>
  %4 = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<3x2x6xf32>
  %5 = stablehlo.divide %3, %4 : tensor<3x2x6xf32>
  %6 = stablehlo.convolution(%2, %5) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xf32>, tensor<3x2x6xf32>) -> tensor<1x5x6xf32>
  %7 = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<6xf32>) -> tensor<1x5x6xf32>
  %8 = stablehlo.add %6, %7 : tensor<1x5x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<1x5x6xf32>
  %9 = stablehlo.maximum %zero, %8 : tensor<1x5x6xf32>
  return %9 : tensor<1x5x6xf32>
}

// CHECK-LABEL: func.func @padded(
// CHECK: stablehlo.dot_general
func.func @padded(%a: tensor<2x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %s: tensor<f32>) -> tensor<3x6xf32> {
  %0 = stablehlo.convert %a : (tensor<2x8xf8E4M3FN>) -> tensor<2x8xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %2, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %4 = stablehlo.convert %b : (tensor<8x6xf8E4M3FN>) -> tensor<8x6xf32>
  %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  return %5 : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @wide(
// CHECK: stablehlo.dot_general
func.func @wide(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// Scales of MX are found where a program decodes their codes itself, as torchao does.
// CHECK-LABEL: func.func @decoded_scales(
// CHECK: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {{.*}} : (tensor<8x64xf8E5M2>, tensor<4x64xf8E5M2>, tensor<8x2xf8E8M0FNU>, tensor<4x2xf8E8M0FNU>) -> tensor<8x4xf32>
func.func @decoded_scales(%a: tensor<8x64xf8E5M2>, %b: tensor<4x64xf8E5M2>, %sa: tensor<8x2xf8E8M0FNU>, %sb: tensor<4x2xf8E8M0FNU>) -> tensor<8x4xf32> {
  %code = stablehlo.bitcast_convert %sa : (tensor<8x2xf8E8M0FNU>) -> tensor<8x2xui8>
  %bias = stablehlo.constant dense<127> : tensor<8x2xi16>
  %nan_code = stablehlo.constant dense<255> : tensor<8x2xui8>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<8x2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<8x2xf32>
  %wide = stablehlo.convert %code : (tensor<8x2xui8>) -> tensor<8x2xi16>
  %less = stablehlo.subtract %wide, %bias : tensor<8x2xi16>
  %exponent = stablehlo.convert %less : (tensor<8x2xi16>) -> tensor<8x2xf32>
  %power = stablehlo.power %two, %exponent : tensor<8x2xf32>
  %is_number = stablehlo.compare NE, %code, %nan_code : (tensor<8x2xui8>, tensor<8x2xui8>) -> tensor<8x2xi1>
  %scale = stablehlo.select %is_number, %power, %nan : tensor<8x2xi1>, tensor<8x2xf32>
  %spread = stablehlo.broadcast_in_dim %scale, dims = [0, 1] : (tensor<8x2xf32>) -> tensor<8x2x32xf32>
  %of_a = stablehlo.reshape %spread : (tensor<8x2x32xf32>) -> tensor<8x64xf32>
  %a32 = stablehlo.convert %a : (tensor<8x64xf8E5M2>) -> tensor<8x64xf32>
  %left = stablehlo.multiply %a32, %of_a : tensor<8x64xf32>
  %sb32 = stablehlo.convert %sb : (tensor<4x2xf8E8M0FNU>) -> tensor<4x2xf32>
  %spread_b = stablehlo.broadcast_in_dim %sb32, dims = [0, 1] : (tensor<4x2xf32>) -> tensor<4x2x32xf32>
  %of_b = stablehlo.reshape %spread_b : (tensor<4x2x32xf32>) -> tensor<4x64xf32>
  %b32 = stablehlo.convert %b : (tensor<4x64xf8E5M2>) -> tensor<4x64xf32>
  %right = stablehlo.multiply %b32, %of_b : tensor<4x64xf32>
  %y = stablehlo.dot_general %left, %right, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
