// RUN: fp8-opt %s --split-input-file --fp8-canonicalize-for-xla-gpu | filecheck %s
// RUN: not fp8-opt %S/../Inputs/xla_gpu/converted_scale.mlir --fp8-canonicalize-for-xla-gpu 2>&1 | filecheck %s --check-prefix=CONVERT
// RUN: fp8-opt %S/../Inputs/xla_gpu/converted_scale.mlir --pass-pipeline='builtin.module(fp8-canonicalize-for-xla-gpu{allow-reassociation=true})' | filecheck %s --check-prefix=BEHIND
// RUN: fp8-opt %S/../Inputs/xla_gpu/converted_scale.mlir --pass-pipeline='builtin.module(fp8-canonicalize-for-xla-gpu{allow-reassociation=true allow-excess-precision=true})' | filecheck %s --check-prefix=EXCESS
// RUN: not fp8-opt %S/../Inputs/xla_gpu/fnuz.mlir --fp8-canonicalize-for-xla-gpu 2>&1 | filecheck %s --check-prefix=FNUZ
// RUN: fp8-opt %S/../Inputs/xla_gpu/fnuz.mlir --pass-pipeline='builtin.module(fp8-canonicalize-for-xla-gpu{platform=rocm})' | filecheck %s --check-prefix=ROCM

// Scales of the type that operands are dequantized to: the exact steps, the dot in its own type.
// CHECK-LABEL: @dequantized
// CHECK-DAG: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
// CHECK-DAG: %[[SA:.*]] = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
// CHECK: stablehlo.multiply %[[A]], %[[SA]] : tensor<64x128xbf16>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general {{.*}}, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<128x32xbf16>) -> tensor<64x32xbf16>
// CHECK-NEXT: return %[[DOT]] : tensor<64x32xbf16>
func.func @dequantized(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<bf16>, %sb: tensor<bf16>) -> tensor<64x32xbf16> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operand_type = bf16, dot_type = bf16, fast_accum, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>, tensor<bf16>, tensor<bf16>) -> tensor<64x32xbf16>
  return %0 : tensor<64x32xbf16>
}

// -----

// A quantized result: clamped to exactly 448, its amax before, with two users of the dot.
// CHECK-LABEL: @quantized
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
// CHECK: stablehlo.abs %[[DOT]]
// CHECK: stablehlo.reduce
// CHECK: %[[D:.*]] = stablehlo.divide %[[DOT]], %{{.*}}
// CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// CHECK: %[[CLAMP:.*]] = stablehlo.clamp %[[LOW]], %[[D]], %[[HIGH]]
// CHECK-NEXT: stablehlo.convert %[[CLAMP]] : (tensor<64x32xf32>) -> tensor<64x32xf8E4M3FN>
func.func @quantized(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<f32>, %sb: tensor<f32>, %sd: tensor<f32>) -> (tensor<64x32xf8E4M3FN>, tensor<f32>) {
  %0:2 = "fp8.scaled_dot"(%a, %b, %sa, %sb, %sd) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operand_type = f32, saturate, amax, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<64x32xf8E4M3FN>, tensor<f32>)
  return %0#0, %0#1 : tensor<64x32xf8E4M3FN>, tensor<f32>
}

// -----

// Scales per row and column already scale the sum: the dot is of the f8 values.
// CHECK-LABEL: @rows
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>) -> tensor<64x32xf32>
// CHECK: stablehlo.multiply %[[DOT]], %{{.*}} : tensor<64x32xf32>
func.func @rows(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<64x1xf32>, %sb: tensor<1x32xf32>) -> tensor<64x32xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>, tensor<64x1xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// -----

// Several free and contracting dimensions: the f8 values become matrices, and the result back.
// CHECK-LABEL: @dimensions
// CHECK-DAG: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<2x16x4x8xf8E4M3FN>) -> tensor<32x32xf8E4M3FN>
// CHECK-DAG: %[[T:.*]] = stablehlo.transpose %arg1, dims = [1, 2, 0] : (tensor<8x48x4xf8E4M3FN>) -> tensor<48x4x8xf8E4M3FN>
// CHECK-DAG: %[[B:.*]] = stablehlo.reshape %[[T]] : (tensor<48x4x8xf8E4M3FN>) -> tensor<48x32xf8E4M3FN>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [1], {{.*}} -> tensor<32x48xbf16>
// CHECK: stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<48xbf16>) -> tensor<32x48xbf16>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[DOT]]
// CHECK: stablehlo.reshape %[[SUM]] : (tensor<32x48xbf16>) -> tensor<2x16x48xbf16>
func.func @dimensions(%a: tensor<2x16x4x8xf8E4M3FN>, %b: tensor<8x48x4xf8E4M3FN>, %bias: tensor<48xbf16>) -> tensor<2x16x48xbf16> {
  %0 = "fp8.scaled_dot"(%a, %b, %bias) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [2, 0]>, dot_type = bf16, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1, 0>} : (tensor<2x16x4x8xf8E4M3FN>, tensor<8x48x4xf8E4M3FN>, tensor<48xbf16>) -> tensor<2x16x48xbf16>
  return %0 : tensor<2x16x48xbf16>
}

// -----

// One row: of 1 XLA makes a vector, so it is the first of 16.
// CHECK-LABEL: @row
// CHECK: %[[A:.*]] = stablehlo.pad %arg0, %{{.*}}, low = [0, 0], high = [15, 0], interior = [0, 0] : (tensor<1x64xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<16x64xf8E4M3FN>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %[[A]], %arg1
// CHECK: stablehlo.slice %[[DOT]] [0:1, 0:32] : (tensor<16x32xf32>) -> tensor<1x32xf32>
func.func @row(%a: tensor<1x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>) -> tensor<1x32xf32> {
  %0 = "fp8.scaled_dot"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : (tensor<1x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}

// -----

// A constant is of the type of its step without a convert.
// CHECK-LABEL: @constant
// CHECK: stablehlo.constant dense<3.007810e-01> : tensor<bf16>
// CHECK-NOT: tensor<f32>
// CHECK: return
func.func @constant(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E5M2>) -> tensor<64x32xbf16> {
  %s = stablehlo.constant dense<0.3> : tensor<f32>
  %0 = "fp8.scaled_dot"(%a, %b, %s) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operand_type = bf16, dot_type = bf16, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E5M2>, tensor<f32>) -> tensor<64x32xbf16>
  return %0 : tensor<64x32xbf16>
}

// -----

// CHECK-LABEL: @convolution
// CHECK: stablehlo.convolution({{.*}} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x32xbf16>) -> tensor<1x6x6x32xbf16>
func.func @convolution(%a: tensor<1x8x8x16xf8E4M3FN>, %b: tensor<3x3x16x32xf8E4M3FN>, %sa: tensor<bf16>) -> tensor<1x6x6x32xbf16> {
  %0 = "fp8.scaled_convolution"(%a, %b, %sa) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, operand_type = bf16, dot_type = bf16, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<1x8x8x16xf8E4M3FN>, tensor<3x3x16x32xf8E4M3FN>, tensor<bf16>) -> tensor<1x6x6x32xbf16>
  return %0 : tensor<1x6x6x32xbf16>
}

// CONVERT: converted_scale.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'fp8.scaled_dot' has a_scale of f32, converted to bf16 before it is broadcast, with which XLA:GPU loses the FP8 dot: pass it as bf16, or give allow-reassociation to scale the sum instead, which rounds elsewhere

// BEHIND: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
// BEHIND: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>) -> tensor<64x32xf32>
// BEHIND: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<64x32xf32>
// BEHIND: stablehlo.convert %{{.*}} : (tensor<64x32xf32>) -> tensor<64x32xbf16>
// BEHIND: stablehlo.add %{{.*}}, %{{.*}} : tensor<64x32xbf16>

// A bf16 result: the call gives it, with its scale and its bias in bf16.
// EXCESS: %[[ONE:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
// EXCESS: %[[DOT:.*]] = stablehlo.dot_general %arg0, %arg1, {{.*}} -> tensor<64x32xbf16>
// EXCESS: %[[FACTOR:.*]] = stablehlo.convert %[[ONE]] : (tensor<f32>) -> tensor<bf16>
// EXCESS: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[FACTOR]], dims = [] : (tensor<bf16>) -> tensor<64x32xbf16>
// EXCESS: %[[SUM:.*]] = stablehlo.multiply %[[DOT]], %[[SPREAD]] : tensor<64x32xbf16>
// EXCESS: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<32xbf16>) -> tensor<64x32xbf16>
// EXCESS: stablehlo.add %[[SUM]], %[[ROWS]] : tensor<64x32xbf16>

// FNUZ: error: 'fp8.scaled_dot' multiplies f8E4M3FNUZ by f8E4M3FNUZ: XLA:GPU on cuda multiplies f8E4M3FN and f8E5M2; quantize to these, or give platform=rocm

// ROCM: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<64x128xf8E4M3FNUZ>, tensor<128x32xf8E4M3FNUZ>) -> tensor<64x32xf32>
