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
