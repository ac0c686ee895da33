// RUN: fp8-opt %s --fp8-to-composite --split-input-file --verify-diagnostics | FileCheck %s

// Equal ops share a decomposition; names that are taken stay whose they are.
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT: stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {saturate = true}, decomposition = @fp8.quantize_0, version = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
// CHECK-NEXT: stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {saturate = true}, decomposition = @fp8.quantize_0, jax.note = "kept", version = 1 : i32}
// CHECK-NEXT: stablehlo.composite "fp8.quantize" %arg0, %arg1 {composite_attributes = {inverse = true}, decomposition = @fp8.quantize_1, version = 1 : i32}
// CHECK-NEXT: stablehlo.composite "fp8.dequantize" %{{.*}}, %arg1 {decomposition = @fp8.dequantize, version = 1 : i32}
// CHECK: func.func private @fp8.quantize()
// CHECK: func.func private @fp8.quantize_0(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf8E5M2> {
// CHECK: stablehlo.divide
// CHECK: stablehlo.clamp
// CHECK: func.func private @fp8.quantize_1(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf8E5M2> {
// CHECK: stablehlo.multiply
// CHECK-NEXT: stablehlo.convert
// CHECK: func.func private @fp8.dequantize(
// CHECK-NOT: func.func
func.func @shared(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf32> {
  %0 = "fp8.quantize"(%arg0, %arg1) {saturate} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %1 = "fp8.quantize"(%arg0, %arg1) {saturate = true, inverse = false, jax.note = "kept"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %2 = "fp8.quantize"(%arg0, %arg1) {inverse} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %3 = "fp8.dequantize"(%2, %arg1) : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @fp8.quantize()

// -----

// Dimension numbers travel in pieces; the decomposition has no CHLO.
// CHECK-LABEL: func.func @dot(
// CHECK-NEXT: stablehlo.composite "fp8.scaled_dot" %arg0, %arg1, %arg2 {composite_attributes = {activation = "gelu_erf", alpha = 2.000000e+00 : bf16, dot_type = bf16, lhs_batching_dimensions = dense<> : tensor<0xi64>, lhs_contracting_dimensions = dense<1> : tensor<1xi64>, operandSegmentSizes = dense<[1, 1, 0, 1, 0, 0, 0]> : tensor<7xi64>, rhs_batching_dimensions = dense<> : tensor<0xi64>, rhs_contracting_dimensions = dense<0> : tensor<1xi64>}, decomposition = @fp8.scaled_dot, version = 1 : i32}
// CHECK: func.func private @fp8.scaled_dot(
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NOT: chlo
// CHECK: return %{{.*}} : tensor<4x2xbf16>
func.func @dot(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>, %arg2: tensor<f32>) -> tensor<4x2xbf16> {
  %0 = "fp8.scaled_dot"(%arg0, %arg1, %arg2) {activation = "gelu_erf", alpha = 2.0 : bf16, dot_type = bf16, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>, tensor<f32>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// CHECK-LABEL: func.func @convert(
// CHECK-NEXT: stablehlo.composite "fp8.convert" %arg0, %arg1 {composite_attributes = {rounding = "stochastic", seed = 3 : i64}, decomposition = @fp8.convert, version = 1 : i32} : (tensor<4xf32>, tensor<ui64>) -> tensor<4xf8E5M2>
// CHECK: func.func private @fp8.convert(%arg0: tensor<4xf32>, %arg1: tensor<ui64>) -> tensor<4xf8E5M2>
// CHECK: stablehlo.convert %{{.*}} {mlir_fp8.rounding = "stochastic"}
func.func @convert(%arg0: tensor<4xf32>, %arg1: tensor<ui64>) -> tensor<4xf8E5M2> {
  %0 = "fp8.convert"(%arg0, %arg1) {rounding = "stochastic", seed = 3 : i64} : (tensor<4xf32>, tensor<ui64>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

// In a function of its own it would draw the same bits for each element.
func.func @in_a_body(%arg0: tensor<2xf32>) -> tensor<2xf8E5M2> {
  %0 = "stablehlo.map"(%arg0) ({
  ^bb0(%x: tensor<f32>):
    // expected-error@+1 {{'fp8.convert' in the body of stablehlo.map has no index to draw random bits by}}
    %y = "fp8.convert"(%x) {rounding = "stochastic", seed = 7 : i64} : (tensor<f32>) -> tensor<f8E5M2>
    stablehlo.return %y : tensor<f8E5M2>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}

// -----

func.func @open(%arg0: tensor<?xf32>) -> tensor<?xf8E5M2> {
  // expected-error@+1 {{rounds toward_zero on tensor<?xf32>: refine shapes first}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<?xf32>) -> tensor<?xf8E5M2>
  return %0 : tensor<?xf8E5M2>
}

// -----

func.func @unreadable(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<4xf8E5M2> {
  // expected-error@+1 {{'fp8.quantize' has my.number, which cannot go along on a composite: drop it}}
  %0 = "fp8.quantize"(%arg0, %arg1) {my.number = dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: stablehlo.composite "fp8.attention" %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 {composite_attributes = {causal = true, operandSegmentSizes = dense<[1, 1, 1, 1, 1, 0, 0, 0, 1]> : tensor<9xi64>, p_factor = 0.00223214296 : f32, p_inverse = true, p_saturate = true, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 5.000000e-01 : f32, window = 4 : i64}, decomposition = @fp8.attention, version = 1 : i32}
// CHECK: func.func private @fp8.attention(
// CHECK: stablehlo.exponential
// CHECK: return %{{.*}} : tensor<1x4x3x6xbf16>
func.func @attention(%q: tensor<1x4x3x8xf8E4M3FN>, %k: tensor<1x2x5x8xf8E4M3FN>, %v: tensor<1x2x5x6xf8E4M3FN>, %qs: tensor<f32>, %ks: tensor<1x2x5x1xf32>, %at: tensor<i32>) -> tensor<1x4x3x6xbf16> {
  %0 = "fp8.attention"(%q, %k, %v, %qs, %ks, %at) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>, p_factor = 0.00223214296 : f32, p_inverse, p_saturate, p_scale = 448.0 : f32, p_type = f8E4M3FN, scale = 0.5 : f32, window = 4} : (tensor<1x4x3x8xf8E4M3FN>, tensor<1x2x5x8xf8E4M3FN>, tensor<1x2x5x6xf8E4M3FN>, tensor<f32>, tensor<1x2x5x1xf32>, tensor<i32>) -> tensor<1x4x3x6xbf16>
  return %0 : tensor<1x4x3x6xbf16>
}
