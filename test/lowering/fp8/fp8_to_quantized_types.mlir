// RUN: fp8-opt %s --fp8-to-quantized-types --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-to-quantized-types=storage=f8 --split-input-file | FileCheck %s --check-prefix=FLOAT

// CHECK-LABEL: func.func @dot(
// CHECK: stablehlo.constant() <{value = dense<{{.*}}1, 127], [127, 64]]> : tensor<2x2xi8>}>
// CHECK: stablehlo.uniform_quantize %arg0 : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8<-127:127>:f32, 1.76377952
// CHECK: stablehlo.dot_general
// CHECK-SAME: -> tensor<2x2x!quant.uniform<i32:f32:1, {
// CHECK: stablehlo.uniform_dequantize
// CHECK-NOT: fp8.
// FLOAT-LABEL: func.func @dot(
// FLOAT: "fp8.uniform_quantize"(%{{.*}}) {type = !quant.uniform<f8E4M3FN:f32, 5.000000e-01>} : (tensor<2x4xf32>) -> tensor<2x4xf8E4M3FN>
// FLOAT: "fp8.uniform_dequantize"
// FLOAT: "fp8.uniform_dequantize"(%{{.*}}) {type = !quant.uniform<f8E4M3FN:f32:1, {1.000000e+00,2.000000e+00}>}
// FLOAT: stablehlo.dot_general
func.func @dot(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %s = stablehlo.constant dense<0.5> : tensor<f32>
  %t = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = stablehlo.constant dense<[[1.0, 256.0], [128.0, 128.0]]> : tensor<2x2xf8E4M3FN>
  %q = "fp8.quantize"(%x, %s) {saturate} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf8E4M3FN>
  %half = stablehlo.slice %q [0:2, 0:2] : (tensor<2x4xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
  %d = "fp8.scaled_dot"(%half, %w, %s, %t) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : (tensor<2x2xf8E4M3FN>, tensor<2x2xf8E4M3FN>, tensor<f32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @unknown_scale(
// CHECK-NEXT: "fp8.quantize"(%arg0, %arg1)
// CHECK-NEXT: "fp8.dequantize"
// FLOAT-LABEL: func.func @unknown_scale(
func.func @unknown_scale(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %q = "fp8.quantize"(%x, %s) {saturate} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>
  %y = "fp8.dequantize"(%q, %s) : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
