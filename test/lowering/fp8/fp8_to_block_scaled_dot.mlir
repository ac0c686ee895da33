// RUN: fp8-opt %s --fp8-to-block-scaled-dot --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-to-block-scaled-dot=remarks --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fp8-opt %s --fp8-to-block-scaled-dot=form=composite --split-input-file | FileCheck %s --check-prefix=COMPOSITE
// RUN: fp8-opt %s --fp8-to-block-scaled-dot=form=hlo --split-input-file | FileCheck %s --check-prefix=HLO
// RUN: fp8-opt %s --fp8-to-block-scaled-dot='form=composite remarks' --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEFT

// Operands become [B, M, K] and [B, N, K], their scales too; the result is as it was declared.
// CHECK-LABEL: func.func @matrices(
// CHECK: %[[B:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<64x4xf8E4M3FN>) -> tensor<4x64xf8E4M3FN>
// CHECK: stablehlo.reshape %[[B]] : (tensor<4x64xf8E4M3FN>) -> tensor<1x4x64xf8E4M3FN>
// CHECK: %[[D:.*]] = stablehlo.custom_call @__op$block_scaled_dot({{.*}} (tensor<1x8x64xf8E4M3FN>, tensor<1x4x64xf8E4M3FN>, tensor<1x8x2xf8E8M0FNU>, tensor<1x4x2xf8E8M0FNU>) -> tensor<1x8x4xbf16>
// CHECK: stablehlo.reshape %[[D]] : (tensor<1x8x4xbf16>) -> tensor<8x4xbf16>

// COMPOSITE-LABEL: func.func @matrices(
// COMPOSITE: stablehlo.composite "xla.scaled_dot" %arg0, %arg1, %arg2, %arg3 {composite_attributes = {dimension_numbers = {{\[\[\[1\], \[0\]\], \[\[\], \[\]\]\]}}, preferred_element_type = bf16}
// COMPOSITE: func.func private @xla.scaled_dot(

// HLO-LABEL: func.func @matrices(
// HLO: stablehlo.custom_call @xla.scaled_dot(%arg0, %arg1, %arg2, %arg3) {{{.*}}dimension_numbers{{.*}} [{{\[\[1\], \[0\]\], \[\[\], \[\]\]\]}}
func.func @matrices(%a: tensor<8x64xf8E4M3FN>, %b: tensor<64x4xf8E4M3FN>, %sa: tensor<8x2xf8E8M0FNU>, %sb: tensor<2x4xf8E8M0FNU>) -> tensor<8x4xbf16> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = bf16} : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<2x4xf8E8M0FNU>) -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}

// -----

// Free dimensions are merged; one scale for all rows is one for each.
// CHECK-LABEL: func.func @merged(
// CHECK: stablehlo.custom_call @__op$block_scaled_dot({{.*}} (tensor<1x6x64xf8E4M3FN>, tensor<1x4x64xf8E4M3FN>, tensor<1x6x2xf8E8M0FNU>, tensor<1x4x2xf8E8M0FNU>) -> tensor<1x6x4xf32>
// LEFT: stays: it dequantizes in f32, where this form does in bf16
func.func @merged(%a: tensor<2x3x64xf8E4M3FN>, %b: tensor<4x64xf8E4M3FN>, %sa: tensor<2x1x2xf8E8M0FNU>, %sb: tensor<4x2xf8E8M0FNU>) -> tensor<2x3x4xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = f32} : (tensor<2x3x64xf8E4M3FN>, tensor<4x64xf8E4M3FN>, tensor<2x1x2xf8E8M0FNU>, tensor<4x2xf8E8M0FNU>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// REMARK: remark: 'fp8.scaled_dot' {{.*}} stays: it scales its sum, or has a scale of one operand alone
func.func @of_tensors(%a: tensor<8x64xf8E4M3FN>, %b: tensor<64x4xf8E4M3FN>, %s: tensor<f32>) -> tensor<8x4xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %s, %s) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// REMARK: remark: 'fp8.scaled_dot' {{.*}} stays: it has an epilogue, which this form has not
func.func @epilogue(%a: tensor<8x64xf8E4M3FN>, %b: tensor<64x4xf8E4M3FN>, %sa: tensor<8x2xf8E8M0FNU>, %sb: tensor<2x4xf8E8M0FNU>) -> tensor<8x4xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {activation = "relu", dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = bf16} : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<2x4xf8E8M0FNU>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// REMARK: remark: 'fp8.scaled_dot' {{.*}} stays: it has blocks of two sizes
func.func @two_sizes(%a: tensor<8x64xf8E4M3FN>, %b: tensor<64x4xf8E4M3FN>, %sa: tensor<8x2xf8E8M0FNU>, %sb: tensor<4x4xf8E8M0FNU>) -> tensor<8x4xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = bf16} : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<4x4xf8E8M0FNU>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// REMARK: remark: 'fp8.scaled_dot' {{.*}} stays: it has scales of f32, where this form has f8
func.func @of_f32(%a: tensor<8x64xf8E4M3FN>, %b: tensor<64x4xf8E4M3FN>, %sa: tensor<8x2xf32>, %sb: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, operand_type = f32} : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
