// Chunks without an expected error are printed and checked.
// RUN: fp8-opt %s --fp8-legalize-to-stablehlo --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @nearest_even(
// CHECK-NEXT: stablehlo.convert %arg0 {mlir_fp8.rounding = "nearest_even"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// CHECK: %[[CLAMPED:.*]] = stablehlo.clamp {{.*}}, %arg0, {{.*}} : (tensor<f32>, tensor<2xf32>, tensor<f32>)
// CHECK-NEXT: stablehlo.convert %[[CLAMPED]] {mlir_fp8.rounding = "nearest_even"}
// CHECK-NEXT: stablehlo.convert %arg0 {mlir_fp8.rounding = "nearest_even"} : (tensor<2xf32>) -> tensor<2xbf16>
func.func @nearest_even(%arg0: tensor<2xf32>)
    -> (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xbf16>) {
  %0 = "fp8.convert"(%arg0) {rounding = "nearest_even"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %1 = "fp8.convert"(%arg0) {rounding = "nearest_even", saturate} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %2 = "fp8.convert"(%arg0) {rounding = "nearest_even", saturate = false} : (tensor<2xf32>) -> tensor<2xbf16>
  return %0, %1, %2 : tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xbf16>
}

// -----

// 64-bit integers are rounded once; a dynamic shape is no obstacle to saturation.
// CHECK-LABEL: func.func @sources(
// CHECK: stablehlo.select
// CHECK: stablehlo.convert {{.*}} : (tensor<2xi64>) -> tensor<2xf64>
// CHECK: stablehlo.minimum {{.*}} : tensor<2xf64>
// CHECK: stablehlo.convert {{.*}} {mlir_fp8.rounding = "toward_zero"} : (tensor<2xf64>) -> tensor<2xf8E5M2>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg1 : (tensor<?xf8E5M2>) -> tensor<?xf32>
// CHECK: stablehlo.clamp {{.*}}, %[[WIDE]], {{.*}}
func.func @sources(%arg0: tensor<2xi64>, %arg1: tensor<?xf8E5M2>)
    -> (tensor<2xf8E5M2>, tensor<?xf8E5M2>) {
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<2xi64>) -> tensor<2xf8E5M2>
  %1 = "fp8.convert"(%arg1) {rounding = "nearest_even", saturate} : (tensor<?xf8E5M2>) -> tensor<?xf8E5M2>
  return %0, %1 : tensor<2xf8E5M2>, tensor<?xf8E5M2>
}

// -----

// The key of a run-time seed is computed when the module runs.
// CHECK-LABEL: func.func @stochastic(
// CHECK-NEXT: %[[SEED:.*]] = stablehlo.bitcast_convert %arg1 : (tensor<ui64>) -> tensor<i64>
// CHECK: %[[STREAM:.*]] = stablehlo.constant dense<7> : tensor<i64>
// CHECK-NEXT: stablehlo.add {{.*}}, %[[STREAM]]
// CHECK: %[[KEY:.*]] = stablehlo.or
// CHECK: stablehlo.broadcast_in_dim %[[KEY]], dims = [] : (tensor<i64>) -> tensor<2x3xi64>
// CHECK: stablehlo.iota dim = 0 : tensor<2x3xi64>
// CHECK: stablehlo.constant dense<3> : tensor<2x3xi64>
// CHECK: stablehlo.iota dim = 1 : tensor<2x3xi64>
// CHECK: stablehlo.convert {{.*}} {mlir_fp8.rounding = "stochastic"} : (tensor<2x3xf32>) -> tensor<2x3xf8E5M2>
func.func @stochastic(%arg0: tensor<2x3xf32>, %arg1: tensor<ui64>) -> tensor<2x3xf8E5M2> {
  %0 = "fp8.convert"(%arg0, %arg1) {rounding = "stochastic", seed = 7 : i64} : (tensor<2x3xf32>, tensor<ui64>) -> tensor<2x3xf8E5M2>
  return %0 : tensor<2x3xf8E5M2>
}

// -----

func.func @in_a_body(%arg0: tensor<2xf32>) -> tensor<2xf8E5M2> {
  %0 = "stablehlo.map"(%arg0) ({
  ^bb0(%x: tensor<f32>):
    // expected-error@+1 {{in the body of stablehlo.map has no index to draw random bits by: convert outside of it, or round to nearest or toward zero}}
    %y = "fp8.convert"(%x) {rounding = "stochastic", seed = 7 : i64} : (tensor<f32>) -> tensor<f8E5M2>
    stablehlo.return %y : tensor<f8E5M2>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}

// -----

func.func @dynamic(%arg0: tensor<?xf32>) -> tensor<?xf8E5M2> {
  // expected-error@+1 {{rounds toward_zero on tensor<?xf32>: refine shapes first}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<?xf32>) -> tensor<?xf8E5M2>
  return %0 : tensor<?xf8E5M2>
}

// -----

// The scale is converted to the type of the step, repeated, and applied; then clamp and convert.
// CHECK-LABEL: func.func @quantize(
// CHECK-NEXT: %[[S:.*]] = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<bf16>) -> tensor<4x64xbf16>
// CHECK-NEXT: %[[Q:.*]] = stablehlo.divide %arg0, %[[B]] : tensor<4x64xbf16>
// CHECK-NEXT: %[[LOW:.*]] = stablehlo.constant dense<-4.480000e+02> : tensor<bf16>
// CHECK-NEXT: %[[HIGH:.*]] = stablehlo.constant dense<4.480000e+02> : tensor<bf16>
// CHECK-NEXT: %[[C:.*]] = stablehlo.clamp %[[LOW]], %[[Q]], %[[HIGH]]
// CHECK-NEXT: stablehlo.convert %[[C]] : (tensor<4x64xbf16>) -> tensor<4x64xf8E4M3FN>
// CHECK-NEXT: return
func.func @quantize(%arg0: tensor<4x64xbf16>, %arg1: tensor<f32>) -> tensor<4x64xf8E4M3FN> {
  %0 = "fp8.quantize"(%arg0, %arg1) {saturate} : (tensor<4x64xbf16>, tensor<f32>) -> tensor<4x64xf8E4M3FN>
  return %0 : tensor<4x64xf8E4M3FN>
}

// -----

// Blocks of 32 along the rows, and of 2 by 32: each has a dimension of its own until it is repeated.
// CHECK-LABEL: func.func @dequantize(
// CHECK: %[[S:.*]] = stablehlo.convert %arg1 : (tensor<4x2xf8E8M0FNU>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [0, 1] : (tensor<4x2xf32>) -> tensor<4x2x32xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[B]] : (tensor<4x2x32xf32>) -> tensor<4x64xf32>
// CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[R]]
// CHECK: stablehlo.broadcast_in_dim %arg2, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x2x2x32xf32>
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: stablehlo.divide
func.func @dequantize(%arg0: tensor<4x64xf4E2M1FN>, %arg1: tensor<4x2xf8E8M0FNU>, %arg2: tensor<2x2xf32>)
    -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %0 = "fp8.dequantize"(%arg0, %arg1) : (tensor<4x64xf4E2M1FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf32>
  %1 = "fp8.dequantize"(%arg0, %arg2) {inverse} : (tensor<4x64xf4E2M1FN>, tensor<2x2xf32>) -> tensor<4x64xf32>
  return %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// Without operand_type, the small floats themselves are multiplied, and the sum is scaled.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg2 : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %[[FLAT]], dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[SCALED:.*]] = stablehlo.multiply %[[SUM]], %[[ROWS]] : tensor<4x2xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[BOTH:.*]] = stablehlo.divide %[[SCALED]], %[[COLUMNS]] : tensor<4x2xf32>
// CHECK-NEXT: stablehlo.convert %[[BOTH]] : (tensor<4x2xf32>) -> tensor<4x2xbf16>
// CHECK-NEXT: return
func.func @sum(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E4M3FN>, %arg2: tensor<4x1xf32>, %arg3: tensor<f32>) -> tensor<4x2xbf16> {
  %0 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3) {b_inverse, fast_accum, dot_type = bf16, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}
    : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// With it, operands are dequantized; all steps of the epilogue are in its type.
// CHECK-LABEL: func.func @epilogue(
// CHECK: %[[A:.*]] = stablehlo.multiply %{{.*}} : tensor<4x8xbf16>
// CHECK-NEXT: %[[B:.*]] = stablehlo.convert %arg1 : (tensor<8x2xf8E5M2>) -> tensor<8x2xbf16>
// CHECK-NEXT: stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xf32>
// CHECK-NEXT: stablehlo.convert %{{.*}} : (tensor<4x2xf32>) -> tensor<4x2xbf16>
// CHECK-NEXT: stablehlo.convert %{{.*}} : (tensor<4x2xbf16>) -> tensor<4x2xf16>
// CHECK-NEXT: %[[ALPHA:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<4x2xf16>
// CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[ALPHA]]
// CHECK-NEXT: stablehlo.convert %arg3 : (tensor<4x2xf32>) -> tensor<4x2xf16>
// CHECK-NEXT: stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<2xf16>) -> tensor<4x2xf16>
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00>
// CHECK-NEXT: %[[X:.*]] = stablehlo.maximum
// CHECK-NEXT: stablehlo.abs %[[X]]
// CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<f16>
// CHECK-NEXT: %[[AMAX:.*]] = stablehlo.reduce
// CHECK-SAME: applies stablehlo.maximum across dimensions = [0, 1]
// CHECK: stablehlo.divide %[[X]]
// CHECK: stablehlo.clamp
// CHECK-NEXT: %[[D:.*]] = stablehlo.convert
// CHECK-NEXT: return %[[D]], %[[AMAX]]
func.func @epilogue(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E5M2>, %arg2: tensor<4x2xbf16>, %arg3: tensor<4x2xf32>, %arg4: tensor<2xf16>, %arg5: tensor<f32>) -> (tensor<4x2xf8E4M3FN>, tensor<f16>) {
  %0:2 = "fp8.scaled_dot"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {amax, saturate, activation = "relu", alpha = 3.0 : f16, beta = 2.0 : f16, operand_type = bf16, dot_type = bf16, epilogue_type = f16, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1>}
    : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>, tensor<4x2xbf16>, tensor<4x2xf32>, tensor<2xf16>, tensor<f32>) -> (tensor<4x2xf8E4M3FN>, tensor<f16>)
  return %0#0, %0#1 : tensor<4x2xf8E4M3FN>, tensor<f16>
}

// -----

// StableHLO multiplies no two formats: f32 holds both. An exact GELU is CHLO's.
// CHECK-LABEL: func.func @gelu_erf(
// CHECK-NEXT: stablehlo.convert %arg0 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK-NEXT: stablehlo.convert %arg1 : (tensor<8x2xf8E5M2>) -> tensor<8x2xf32>
// CHECK-NEXT: stablehlo.dot_general
// CHECK: chlo.erfc %{{.*}} : tensor<4x2xf32> -> tensor<4x2xf32>
// CHECK-NEXT: stablehlo.constant dense<5.000000e-01>
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: return
func.func @gelu_erf(%arg0: tensor<4x8xf8E4M3FN>, %arg1: tensor<8x2xf8E5M2>) -> tensor<4x2xf32> {
  %0 = "fp8.scaled_dot"(%arg0, %arg1) {activation = "gelu_erf", dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1{{\]\]}}} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x8x8x6xf32>
func.func @convolution(%arg0: tensor<1x8x8x4xf8E4M3FN>, %arg1: tensor<3x3x4x6xf8E4M3FN>) -> tensor<1x8x8x6xf32> {
  %0 = "fp8.scaled_convolution"(%arg0, %arg1) {padding = dense<1> : tensor<2x2xi64>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : (tensor<1x8x8x4xf8E4M3FN>, tensor<3x3x4x6xf8E4M3FN>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// -----

// The amax enters before the scale is computed; the scale is kept unless the new one is a normal number.
// CHECK-LABEL: func.func @update_scale(
// CHECK-NEXT: %[[NEW:.*]] = stablehlo.reshape %arg2 : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %[[REST:.*]] = stablehlo.slice %arg1 [1:4]
// CHECK-NEXT: %[[SEEN:.*]] = stablehlo.concatenate %[[NEW]], %[[REST]], dim = 0
// CHECK: %[[MAX:.*]] = stablehlo.reduce(%[[SEEN]] init: %{{.*}}) applies stablehlo.maximum
// CHECK: %[[S:.*]] = stablehlo.divide %[[MAX]], %{{.*}} : tensor<f32>
// CHECK: stablehlo.compare GE, %[[S]]
// CHECK: stablehlo.compare LT, %[[S]]
// CHECK: stablehlo.select %{{.*}}, %[[S]], %arg0
func.func @update_scale(%arg0: tensor<f32>, %arg1: tensor<4xf32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %0:2 = "fp8.update_scale"(%arg0, %arg1, %arg2) {recipe = "transformer_engine", format = f8E4M3FN} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<f32>, tensor<4xf32>
}

// -----

// What the dialect's verifier refuses.

func.func @no_rounding(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op needs the attribute rounding, one of "nearest_even", "toward_zero", "stochastic"}}
  %0 = "fp8.convert"(%arg0) : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @unknown_rounding(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op has rounding = "up": it is one of "nearest_even", "toward_zero", "stochastic"}}
  %0 = "fp8.convert"(%arg0) {rounding = "up"} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @shape(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op changes the shape from tensor<2xf32> to tensor<3xf8E5M2>: reshape before or after it}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<2xf32>) -> tensor<3xf8E5M2>
  return
}

// -----

func.func @wide_result(%arg0: tensor<2xf64>) {
  // expected-error@+1 {{'fp8.convert' op gives f32: it is one of f8E5M2, }}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @complex(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'fp8.convert' op takes complex<f32>: convert a float or an integer of at most 64 bits}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (tensor<2xcomplex<f32>>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @scalar(%arg0: f32) {
  // expected-error@+1 {{'fp8.convert' op converts ranked tensors, not f32 to f8E5M2}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero"} : (f32) -> f8E5M2
  return
}

// -----

func.func @operands(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op takes a tensor, and a seed or none, and gives one tensor}}
  %0 = "fp8.convert"() {rounding = "toward_zero"} : () -> tensor<2xf8E5M2>
  return
}

// -----

func.func @unknown_attribute(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op has no attribute saturated, only rounding, saturate, seed}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero", saturated} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @saturate(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op has saturate = 1 : i64: it is a unit attribute, true or false}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero", saturate = 1} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @no_seed(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op rounds stochastic without a seed: give it as attribute (i64) or operand}}
  %0 = "fp8.convert"(%arg0) {rounding = "stochastic"} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @idle_seed(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' op has a seed, which only stochastic rounding takes: drop it}}
  %0 = "fp8.convert"(%arg0) {rounding = "toward_zero", seed = 1} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @seed_type(%arg0: tensor<2xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{'fp8.convert' op has a seed of type tensor<i32>: it is a tensor<ui64>}}
  %0 = "fp8.convert"(%arg0, %arg1) {rounding = "stochastic"} : (tensor<2xf32>, tensor<i32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @unknown_op(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{unregistered operation 'fp8.quantise' found in dialect ('fp8') that does not allow unknown operations}}
  %0 = "fp8.quantise"(%arg0) : (tensor<2xf32>) -> tensor<2xf8E5M2>
  return
}

// -----

func.func @custom_form(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'fp8.convert' has no form of its own: write "fp8.convert"(%x) {...} : (...) -> ...}}
  %0 = fp8.convert %arg0 : tensor<2xf32>
  return
}

// -----

// Query heads that share keys are rows of one matrix; scales of k are those of its tokens.
// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: %[[Q:.*]] = stablehlo.reshape %arg0 : {{.*}} -> tensor<1x2x6x8xf8E4M3FN>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[Q]], %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST]
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.reshape %[[DOT]] : {{.*}} -> tensor<1x4x3x5xf32>
// CHECK: stablehlo.multiply %[[SUM]]
// CHECK: stablehlo.multiply
// CHECK: stablehlo.constant dense<5.000000e-01>
// CHECK-NEXT: %[[X:.*]] = stablehlo.multiply
// CHECK: %[[ROW:.*]] = stablehlo.iota dim = 2 : tensor<1x4x3x5xi32>
// CHECK: %[[KEY:.*]] = stablehlo.iota dim = 3 : tensor<1x4x3x5xi32>
// CHECK: %[[AT:.*]] = stablehlo.add %[[ROW]]
// CHECK: %[[PAST:.*]] = stablehlo.compare LE, %[[KEY]], %[[AT]]
// CHECK: %[[LAST:.*]] = stablehlo.subtract %[[AT]]
// CHECK: %[[NEAR:.*]] = stablehlo.compare GT, %[[KEY]], %[[LAST]]
// CHECK: %[[SEEN:.*]] = stablehlo.and %[[PAST]], %[[NEAR]]
// CHECK: stablehlo.constant dense<0xFF800000>
// CHECK: stablehlo.select %[[SEEN]], %[[X]]
// CHECK: applies stablehlo.maximum across dimensions = [3]
// CHECK: stablehlo.subtract
// CHECK-NEXT: stablehlo.exponential
// CHECK: applies stablehlo.add across dimensions = [3]
// CHECK: stablehlo.divide
// CHECK: stablehlo.multiply
// CHECK: stablehlo.clamp
// CHECK-NEXT: stablehlo.convert {{.*}} -> tensor<1x4x3x5xf8E4M3FN>
// CHECK: stablehlo.dot_general {{.*}}, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
// CHECK: stablehlo.multiply
// CHECK-NEXT: stablehlo.convert {{.*}} -> tensor<1x4x3x6xbf16>
// CHECK-NEXT: return
func.func @attention(%q: tensor<1x4x3x8xf8E4M3FN>, %k: tensor<1x2x5x8xf8E4M3FN>, %v: tensor<1x2x5x6xf8E4M3FN>, %qs: tensor<f32>, %ks: tensor<1x2x5x1xf32>, %at: tensor<i32>) -> tensor<1x4x3x6xbf16> {
  %0 = "fp8.attention"(%q, %k, %v, %qs, %ks, %at) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>, p_factor = 0.00223214296 : f32, p_inverse, p_saturate, p_scale = 448.0 : f32, p_type = f8E4M3FN, scale = 0.5 : f32, window = 4} : (tensor<1x4x3x8xf8E4M3FN>, tensor<1x2x5x8xf8E4M3FN>, tensor<1x2x5x6xf8E4M3FN>, tensor<f32>, tensor<1x2x5x1xf32>, tensor<i32>) -> tensor<1x4x3x6xbf16>
  return %0 : tensor<1x4x3x6xbf16>
}

// -----

// Scales of experts come, row by row, of a ragged dot of ones by them.
// CHECK-LABEL: func.func @ragged(
// CHECK-NEXT: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<9x8xf8E4M3FN>) -> tensor<9x8xbf16>
// CHECK-NEXT: %[[B:.*]] = stablehlo.convert %arg1 : (tensor<3x8x4xf8E5M2>) -> tensor<3x8x4xbf16>
// CHECK-NEXT: %[[SUM:.*]] = "chlo.ragged_dot"(%[[A]], %[[B]], %arg2) <{precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGHEST>]
// CHECK: %[[BY_A:.*]] = stablehlo.multiply %[[SUM]]
// CHECK: %[[ONES:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<9x1xf32>
// CHECK: %[[FACTOR:.*]] = "chlo.ragged_dot"(%[[ONES]], %arg4, %arg2)
// CHECK: %[[BY_B:.*]] = stablehlo.multiply %[[BY_A]], %[[FACTOR]]
// CHECK-NEXT: stablehlo.convert %[[BY_B]] : (tensor<9x4xf32>) -> tensor<9x4xbf16>
func.func @ragged(%a: tensor<9x8xf8E4M3FN>, %b: tensor<3x8x4xf8E5M2>, %n: tensor<3xi32>, %s: tensor<f32>, %t: tensor<3x1x4xf32>) -> tensor<9x4xbf16> {
  %0 = "fp8.scaled_ragged_dot"(%a, %b, %n, %s, %t) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<9x8xf8E4M3FN>, tensor<3x8x4xf8E5M2>, tensor<3xi32>, tensor<f32>, tensor<3x1x4xf32>) -> tensor<9x4xbf16>
  return %0 : tensor<9x4xbf16>
}
