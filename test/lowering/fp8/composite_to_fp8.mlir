// RUN: fp8-opt %s --composite-to-fp8 --split-input-file --verify-diagnostics | FileCheck %s

// Flags, dimension numbers and sizes get their own forms back; what nothing refers to goes.
// CHECK-LABEL: func.func @back(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1, %arg2) {amax, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, epilogue_type = bf16, jax.note = "kept", operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>, tensor<f32>) -> (tensor<4x2xf32>, tensor<bf16>)
// CHECK-NOT: func.func
func.func @back(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>, %arg2: tensor<f32>) -> (tensor<4x2xf32>, tensor<bf16>) {
  %0:2 = stablehlo.composite "fp8.scaled_dot" %arg0, %arg1, %arg2 {composite_attributes = {amax = true, epilogue_type = bf16, lhs_batching_dimensions = array<i64>, lhs_contracting_dimensions = dense<1> : tensor<1xi64>, operandSegmentSizes = dense<[1, 1, 0, 1, 0, 0, 0]> : tensor<7xi64>, rhs_batching_dimensions = dense<> : tensor<0xi64>, rhs_contracting_dimensions = array<i64: 0>}, decomposition = @dot, jax.note = "kept", version = 1 : i32} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>, tensor<f32>) -> (tensor<4x2xf32>, tensor<bf16>)
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<bf16>
}
func.func private @dot(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>, %arg2: tensor<f32>) -> (tensor<4x2xf32>, tensor<bf16>)

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT: "fp8.scaled_convolution"(%arg0, %arg1) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>, padding = dense<1> : tensor<1x2xi64>, window_reversal = array<i1: true>, window_strides = array<i64: 1>}
func.func @convolution(%arg0: tensor<1x8x4xf8E4M3FN>, %arg1: tensor<3x4x6xf8E4M3FN>) -> tensor<1x8x6xf32> {
  %0 = stablehlo.composite "fp8.scaled_convolution" %arg0, %arg1 {composite_attributes = {batch_group_count = 1 : i64, feature_group_count = 1 : i64, input_batch_dimension = 0 : i64, input_feature_dimension = 2 : i64, input_spatial_dimensions = dense<1> : tensor<1xi64>, kernel_input_feature_dimension = 1 : i64, kernel_output_feature_dimension = 2 : i64, kernel_spatial_dimensions = dense<0> : tensor<1xi64>, output_batch_dimension = 0 : i64, output_feature_dimension = 2 : i64, output_spatial_dimensions = dense<1> : tensor<1xi64>, operandSegmentSizes = dense<[1, 1, 0, 0, 0, 0, 0]> : tensor<7xi64>, padding = dense<1> : tensor<1x2xi64>, window_reversal = dense<true> : tensor<1xi1>, window_strides = dense<1> : tensor<1xi64>}, decomposition = @convolution_0, version = 1 : i32} : (tensor<1x8x4xf8E4M3FN>, tensor<3x4x6xf8E4M3FN>) -> tensor<1x8x6xf32>
  return %0 : tensor<1x8x6xf32>
}
func.func private @convolution_0(%arg0: tensor<1x8x4xf8E4M3FN>, %arg1: tensor<3x4x6xf8E4M3FN>) -> tensor<1x8x6xf32>

// -----

// What is not of this version, or not of a form that the op takes, stays as it is: it still runs.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT: stablehlo.composite "fp8.quantize" {{.*}}version = 2 : i32
// CHECK-NEXT: stablehlo.composite "fp8.quantize" {{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
// CHECK-NEXT: stablehlo.composite "fp8.quantize" {{.*}}amax = true
// CHECK-NEXT: stablehlo.composite "fp8.quantize" {{.*}}saturate = 1 : i64
// CHECK-NEXT: stablehlo.composite "fp8.quantise"
// CHECK-NEXT: stablehlo.composite "other.quantize"
// CHECK-NEXT: stablehlo.composite "fp8.quantize" %arg0, %arg0
// CHECK-NEXT: stablehlo.composite "fp8.scaled_dot"
// CHECK-NEXT: "fp8.quantize"(%arg0, %arg1) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
// CHECK: func.func private @quantize(
// CHECK: func.func private @square(
// CHECK: func.func private @dot(
func.func @others(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<4xf8E5M2>) {
  %0 = stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {}, decomposition = @quantize, version = 2 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %1 = stablehlo.composite "fp8.quantize" %arg0, %arg1 {decomposition = @quantize} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %2 = stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {amax = true}, decomposition = @quantize, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %3 = stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {saturate = 1 : i64}, decomposition = @quantize, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %4 = stablehlo.composite "fp8.quantise" %arg0, %arg1 {decomposition = @quantize, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %5 = stablehlo.composite "other.quantize" %arg0, %arg1 {decomposition = @quantize, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %6 = stablehlo.composite "fp8.quantize" %arg0, %arg0 {decomposition = @square, version = 1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<2xf8E5M2>
  %7 = stablehlo.composite "fp8.scaled_dot" %arg2, %arg2 {composite_attributes = {lhs_contracting_dimensions = "x"}, decomposition = @dot, version = 1 : i32} : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<f32>
  %8 = stablehlo.composite "fp8.quantize" %arg0, %arg1 {decomposition = @quantize, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  return
}
func.func private @quantize(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf8E5M2>
func.func private @square(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<2xf8E5M2>
func.func private @dot(%arg0: tensor<4xf8E5M2>, %arg1: tensor<4xf8E5M2>) -> tensor<f32>

// -----

// A decomposition that others can call stays.
// CHECK-LABEL: func.func @public(
// CHECK-NEXT: "fp8.dequantize"
// CHECK: func.func @decomposition(
func.func @public(%arg0: tensor<4xf8E5M2>, %arg1: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "fp8.dequantize" %arg0, %arg1 {decomposition = @decomposition, version = 1 : i32} : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @decomposition(%arg0: tensor<4xf8E5M2>, %arg1: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %arg0 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Attributes that MLIR would end the process on, or that its verifier refuses: not a word of them.
// CHECK-LABEL: func.func @odd(
// CHECK-NEXT: stablehlo.composite "fp8.scaled_dot"
// CHECK-NEXT: stablehlo.composite "fp8.scaled_convolution"
// CHECK-NEXT: stablehlo.composite "fp8.dequantize"
func.func @odd(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>, %arg2: tensor<f32>, %arg3: tensor<1x8x4xf8E4M3FN>) {
  %0 = stablehlo.composite "fp8.scaled_dot" %arg0, %arg1 {composite_attributes = {lhs_batching_dimensions = array<i64>, lhs_contracting_dimensions = array<i64: 99>, operandSegmentSizes = array<i64: 1, 1, 0, 0, 0, 0, 0>, rhs_batching_dimensions = array<i64>, rhs_contracting_dimensions = array<i64: 0>}, decomposition = @dot, version = 1 : i32} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
  %1 = stablehlo.composite "fp8.scaled_convolution" %arg3, %arg3 {composite_attributes = {batch_group_count = 1 : i64, feature_group_count = 1 : i64, input_batch_dimension = 0 : i64, input_feature_dimension = 9 : i64, input_spatial_dimensions = array<i64: 1>, kernel_input_feature_dimension = 1 : i64, kernel_output_feature_dimension = 2 : i64, kernel_spatial_dimensions = array<i64: 0>, output_batch_dimension = 0 : i64, output_feature_dimension = 2 : i64, output_spatial_dimensions = array<i64: 1>, operandSegmentSizes = array<i64: 1, 1, 0, 0, 0, 0, 0>}, decomposition = @convolution, version = 1 : i32} : (tensor<1x8x4xf8E4M3FN>, tensor<1x8x4xf8E4M3FN>) -> tensor<1x8x4xf32>
  %2 = stablehlo.composite "fp8.dequantize" %arg0, %arg2 {composite_attributes = {inverse = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>}, decomposition = @dequantize, version = 1 : i32} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return
}
func.func private @dot(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
func.func private @convolution(%arg0: tensor<1x8x4xf8E4M3FN>, %arg1: tensor<1x8x4xf8E4M3FN>) -> tensor<1x8x4xf32>
func.func private @dequantize(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<f32>) -> tensor<4x8xf32>

// -----

// So does one that may be named where the bindings cannot read.
// CHECK-LABEL: func.func @unreadable(
// CHECK-NEXT: "fp8.dequantize"({{.*}}my.list = [#loc, @listed]
// CHECK-NEXT: "fp8.dequantize"({{.*}}my.dictionary = {a = @held, b = #loc
// CHECK: func.func private @listed(
// CHECK: func.func private @held(
func.func @unreadable(%arg0: tensor<4xf8E5M2>, %arg1: tensor<f32>) {
  %0 = stablehlo.composite "fp8.dequantize" %arg0, %arg1 {decomposition = @listed, my.list = [loc("a"), @listed], version = 1 : i32} : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.composite "fp8.dequantize" %arg0, %arg1 {decomposition = @held, my.dictionary = {a = @held, b = loc("a")}, version = 1 : i32} : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  return
}
func.func private @listed(%arg0: tensor<4xf8E5M2>, %arg1: tensor<f32>) -> tensor<4xf32>
func.func private @held(%arg0: tensor<4xf8E5M2>, %arg1: tensor<f32>) -> tensor<4xf32>

// -----

// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: "fp8.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>, p_factor = 0.00223214296 : f32, p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 5.000000e-01 : f32, window = 4 : i64}
func.func @attention(%q: tensor<1x4x3x8xf8E4M3FN>, %k: tensor<1x2x5x8xf8E4M3FN>, %v: tensor<1x2x5x6xf8E4M3FN>, %qs: tensor<f32>, %ks: tensor<1x2x5x1xf32>, %at: tensor<i32>) -> tensor<1x4x3x6xbf16> {
  %0 = stablehlo.composite "fp8.attention" %q, %k, %v, %qs, %ks, %at {composite_attributes = {causal = true, operandSegmentSizes = dense<[1, 1, 1, 1, 1, 0, 0, 0, 1]> : tensor<9xi64>, p_factor = 0.00223214296 : f32, p_inverse = true, p_saturate = true, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 5.000000e-01 : f32, window = 4 : i64}, decomposition = @fp8.attention, version = 1 : i32} : (tensor<1x4x3x8xf8E4M3FN>, tensor<1x2x5x8xf8E4M3FN>, tensor<1x2x5x6xf8E4M3FN>, tensor<f32>, tensor<1x2x5x1xf32>, tensor<i32>) -> tensor<1x4x3x6xbf16>
  return %0 : tensor<1x4x3x6xbf16>
}
func.func private @fp8.attention(%q: tensor<1x4x3x8xf8E4M3FN>, %k: tensor<1x2x5x8xf8E4M3FN>, %v: tensor<1x2x5x6xf8E4M3FN>, %qs: tensor<f32>, %ks: tensor<1x2x5x1xf32>, %at: tensor<i32>) -> tensor<1x4x3x6xbf16>
