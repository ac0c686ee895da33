// Ragged dots of FP8 numbers, and the scales of their sums, are one op; results are the same bits.
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-fuse-scaled-dot{remarks=true})' 2>&1 | FileCheck %s

// CHECK: remark: ragged_dot tensor<40x64xbf16>, tensor<3x64x48xbf16>, tensor<3xi32> -> tensor<40x48xf32>: fused into fp8.scaled_ragged_dot
// CHECK: remark: ragged_dot {{.*}}: fused into fp8.scaled_ragged_dot
// CHECK: remark: ragged_dot {{.*}}: not fused
// CHECK: remark: rhs: chlo.ragged_dot multiplies what is scaled before; fp8.scaled_ragged_dot scales sums [groups]; multiply the FP8 numbers of rhs themselves, and then the result by the scale
// CHECK: remark: ragged_dot {{.*}}: not fused
// CHECK: remark: dot: chlo.ragged_dot has batches, or other dimensions than fp8.scaled_ragged_dot [groups]; write it as one dot, or as ragged dots of matrices

// CHECK-LABEL: func.func @scales_behind(
// CHECK-NEXT: %[[D:.*]] = "fp8.scaled_ragged_dot"(%arg0, %arg1, %arg2, %arg3, %arg4) {fast_accum, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<40x64xf8E4M3FN>, tensor<3x64x48xf8E4M3FN>, tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<40x48xbf16>
// CHECK-NEXT: return %[[D]]
func.func @scales_behind(%a: tensor<40x64xf8E4M3FN>, %b: tensor<3x64x48xf8E4M3FN>, %n: tensor<3xi32>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<40x48xbf16> {
  %0 = stablehlo.convert %a : (tensor<40x64xf8E4M3FN>) -> tensor<40x64xbf16>
  %1 = stablehlo.convert %b : (tensor<3x64x48xf8E4M3FN>) -> tensor<3x64x48xbf16>
  %2 = "chlo.ragged_dot"(%0, %1, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<40x64xbf16>, tensor<3x64x48xbf16>, tensor<3xi32>) -> tensor<40x48xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<40x48xf32>
  %4 = stablehlo.multiply %2, %3 : tensor<40x48xf32>
  %5 = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<40x48xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<40x48xf32>
  %7 = stablehlo.convert %6 : (tensor<40x48xf32>) -> tensor<40x48xbf16>
  return %7 : tensor<40x48xbf16>
}

// -----

// A result in bf16 is scaled in bf16: no scale of the f32 sum. Operands are moved where they are FP8.
// CHECK-LABEL: func.func @sums(
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<48x64xf8E5M2>) -> tensor<64x48xf8E5M2>
// CHECK-NEXT: %[[D:.*]] = "fp8.scaled_ragged_dot"(%arg0, %[[T]], %arg2) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>} : (tensor<64x32xf8E4M3FN>, tensor<64x48xf8E5M2>, tensor<3xi32>) -> tensor<3x32x48xbf16>
// CHECK: stablehlo.multiply %[[D]]
func.func @sums(%a: tensor<64x32xf8E4M3FN>, %b: tensor<48x64xf8E5M2>, %n: tensor<3xi32>, %s: tensor<bf16>) -> tensor<3x32x48xbf16> {
  %0 = stablehlo.convert %a : (tensor<64x32xf8E4M3FN>) -> tensor<64x32xbf16>
  %1 = stablehlo.convert %b : (tensor<48x64xf8E5M2>) -> tensor<48x64xbf16>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<48x64xbf16>) -> tensor<64x48xbf16>
  %3 = "chlo.ragged_dot"(%0, %2, %n) {precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>} : (tensor<64x32xbf16>, tensor<64x48xbf16>, tensor<3xi32>) -> tensor<3x32x48xbf16>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<3x32x48xbf16>
  %5 = stablehlo.multiply %3, %4 : tensor<3x32x48xbf16>
  return %5 : tensor<3x32x48xbf16>
}

// -----

// CHECK-LABEL: func.func @scaled_before(
// CHECK: chlo.ragged_dot
func.func @scaled_before(%a: tensor<40x64xf8E4M3FN>, %b: tensor<3x64x48xf8E4M3FN>, %n: tensor<3xi32>, %s: tensor<f32>) -> tensor<40x48xf32> {
  %0 = stablehlo.convert %a : (tensor<40x64xf8E4M3FN>) -> tensor<40x64xf32>
  %1 = "fp8.dequantize"(%b, %s) : (tensor<3x64x48xf8E4M3FN>, tensor<f32>) -> tensor<3x64x48xf32>
  %2 = "chlo.ragged_dot"(%0, %1, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<40x64xf32>, tensor<3x64x48xf32>, tensor<3xi32>) -> tensor<40x48xf32>
  return %2 : tensor<40x48xf32>
}

// -----

// CHECK-LABEL: func.func @batch(
// CHECK: chlo.ragged_dot
func.func @batch(%a: tensor<3x4x7xf8E4M3FN>, %b: tensor<3x7x5xf8E4M3FN>, %n: tensor<3xi32>) -> tensor<3x4x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>} : (tensor<3x4x7xf8E4M3FN>, tensor<3x7x5xf8E4M3FN>, tensor<3xi32>) -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}
