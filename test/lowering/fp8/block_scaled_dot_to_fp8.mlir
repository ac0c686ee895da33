// RUN: fp8-opt %s --block-scaled-dot-to-fp8 --symbol-dce --split-input-file | FileCheck %s
// RUN: fp8-opt %s --block-scaled-dot-to-fp8 --fp8-to-block-scaled-dot --block-scaled-dot-to-fp8 --symbol-dce --split-input-file | FileCheck %s

// What jax.nn.scaled_matmul calls on cuda.
// CHECK-LABEL: func.func @custom_call(
// CHECK: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>
// CHECK-SAME: operand_type = bf16
func.func @custom_call(%a: tensor<2x8x64xf8E4M3FN>, %b: tensor<2x4x64xf8E4M3FN>, %sa: tensor<2x8x2xf8E8M0FNU>, %sb: tensor<2x4x2xf8E8M0FNU>) -> tensor<2x8x4xbf16> {
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %sa, %sb) {backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22BF16\22}}"} : (tensor<2x8x64xf8E4M3FN>, tensor<2x4x64xf8E4M3FN>, tensor<2x8x2xf8E8M0FNU>, tensor<2x4x2xf8E8M0FNU>) -> tensor<2x8x4xbf16>
  return %0 : tensor<2x8x4xbf16>
}

// -----

// What jax.lax.scaled_dot lowers to; its decomposition is no longer needed.
// CHECK-LABEL: func.func @composite(
// CHECK: "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {{.*}}operand_type = bf16
// CHECK-NOT: func.func
func.func @composite(%a: tensor<1x8x64xf4E2M1FN>, %b: tensor<1x4x64xf4E2M1FN>, %sa: tensor<1x8x4xf8E4M3FN>, %sb: tensor<1x4x4xf8E4M3FN>) -> tensor<1x8x4xf32> {
  %0 = stablehlo.composite "xla.scaled_dot" %a, %b, %sa, %sb {composite_attributes = {dimension_numbers = [[[2], [2]], [[0], [0]]], preferred_element_type = f32}, decomposition = @body} : (tensor<1x8x64xf4E2M1FN>, tensor<1x4x64xf4E2M1FN>, tensor<1x8x4xf8E4M3FN>, tensor<1x4x4xf8E4M3FN>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}
func.func private @body(%a: tensor<1x8x64xf4E2M1FN>, %b: tensor<1x4x64xf4E2M1FN>, %sa: tensor<1x8x4xf8E4M3FN>, %sb: tensor<1x4x4xf8E4M3FN>) -> tensor<1x8x4xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}

// -----

// Scales that do not divide, and what has no configuration, stay.
// CHECK-LABEL: func.func @other(
// CHECK-COUNT-2: stablehlo.custom_call @__op$block_scaled_dot
func.func @other(%a: tensor<1x8x64xf8E4M3FN>, %b: tensor<1x4x64xf8E4M3FN>, %sa: tensor<1x8x3xf8E8M0FNU>, %sb: tensor<1x4x2xf8E8M0FNU>) -> (tensor<1x8x4xbf16>, tensor<1x8x4xbf16>) {
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %sa, %sb) {backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22BF16\22}}"} : (tensor<1x8x64xf8E4M3FN>, tensor<1x4x64xf8E4M3FN>, tensor<1x8x3xf8E8M0FNU>, tensor<1x4x2xf8E8M0FNU>) -> tensor<1x8x4xbf16>
  %1 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %sa, %sb) {backend_config = "none"} : (tensor<1x8x64xf8E4M3FN>, tensor<1x4x64xf8E4M3FN>, tensor<1x8x3xf8E8M0FNU>, tensor<1x4x2xf8E8M0FNU>) -> tensor<1x8x4xbf16>
  return %0, %1 : tensor<1x8x4xbf16>, tensor<1x8x4xbf16>
}
