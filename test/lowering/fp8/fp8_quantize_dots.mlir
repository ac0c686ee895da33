// RUN: fp8-opt %s --fp8-quantize-dots=history=4 --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-quantize-dots='recipe=mx scale-rounding=ceil' --split-input-file | FileCheck %s --check-prefix=MX
// RUN: fp8-opt %s --fp8-quantize-dots='recipe=nvfp4 stochastic-gradients hadamard=16' --split-input-file | FileCheck %s --check-prefix=FP4

// The state follows the arguments and the results, named and with what it is at first.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<4x8xbf16>, %arg1: tensor<8x2xbf16>,
// CHECK-SAME: %arg2: tensor<f32> {mlir_fp8.initial_value = 1.000000e+00 : f32, mlir_fp8.state = "dot0.lhs.scale"},
// CHECK-SAME: %arg3: tensor<4xf32> {mlir_fp8.initial_value = 0.000000e+00 : f32, mlir_fp8.state = "dot0.lhs.amax_history"},
// CHECK-SAME: %arg4: tensor<f32>
// CHECK-SAME: -> (tensor<4x2xbf16> {jax.result_info = "y"}, tensor<f32> {mlir_fp8.state = "dot0.lhs.scale"},
// The operand in f32, and its amax before it is quantized.
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: %[[ABS:.*]] = stablehlo.abs %[[X]]
// CHECK: %[[AMAX:.*]] = stablehlo.reduce(%[[ABS]] {{.*}} stablehlo.maximum across dimensions = [0, 1]
// flax: the new scale comes of the steps before, and is used in this one.
// CHECK: %[[NEW:.*]]:2 = "fp8.update_scale"(%arg2, %arg3, %[[AMAX]]) {algorithm = "max", format = f8E4M3FN, recipe = "flax"}
// CHECK: %[[Q:.*]] = "fp8.quantize"(%[[X]], %[[NEW]]#0) {saturate}
// CHECK: %[[NEWB:.*]]:2 = "fp8.update_scale"(%arg4, %arg5,
// CHECK: %[[QB:.*]] = "fp8.quantize"({{.*}}, %[[NEWB]]#0) {saturate}
// CHECK: %[[D:.*]] = "fp8.scaled_dot"(%[[Q]], %[[QB]], %[[NEW]]#0, %[[NEWB]]#0)
// CHECK-SAME: fast_accum, mlir_fp8.gradient = "none",
// CHECK-SAME: -> tensor<4x2xbf16>
// CHECK: return %[[D]], %[[NEW]]#0, %[[NEW]]#1, %[[NEWB]]#0, %[[NEWB]]#1
func.func @main(%a: tensor<4x8xbf16>, %b: tensor<8x2xbf16>) -> (tensor<4x2xbf16> {jax.result_info = "y"}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// One tensor in four arrangements is quantized once, and moved as f8; %b is quantized after it is
// rounded to bf16, as the dot has it.
// CHECK-LABEL: func.func @main(
// CHECK: %[[B:.*]] = stablehlo.convert %arg1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// CHECK: %[[B32:.*]] = stablehlo.convert %[[B]]
// CHECK: %[[QB:.*]] = "fp8.quantize"(%[[B32]],
// CHECK-NOT: "fp8.quantize"
// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<8x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
// CHECK-NOT: tensor<2x4x8xf32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<8x8xf8E4M3FN>) -> tensor<2x4x8xf8E4M3FN>
// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<2x4x8xf8E4M3FN>
// CHECK-NOT: "fp8.quantize"
// CHECK: return
func.func @main(%a: tensor<8x8xbf16>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2x4x8xf32>, tensor<8x8xbf16>) {
  %0 = stablehlo.convert %a : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.reshape %a : (tensor<8x8xbf16>) -> tensor<2x4x8xbf16>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<2x4x8xbf16>
  %5 = stablehlo.convert %b : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %6 = stablehlo.dot_general %4, %5, contracting_dims = [2] x [0] : (tensor<2x4x8xbf16>, tensor<8x8xbf16>) -> tensor<2x4x8xf32>
  %7 = stablehlo.convert %b : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %8 = stablehlo.dot %a, %7 : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %2, %6, %8 : tensor<8x8xf32>, tensor<2x4x8xf32>, tensor<8x8xbf16>
}

// -----

// A derivative: the gradient in f8E5M2, without fast accumulation; calls are inlined.
// CHECK-LABEL: func.func @main(
// CHECK: %[[Y:.*]] = "fp8.scaled_dot"{{.*}} fast_accum, mlir_fp8.gradient = "none"{{.*}} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>,
// CHECK: "fp8.update_scale"{{.*}} format = f8E5M2
// CHECK: %[[G:.*]] = "fp8.quantize"{{.*}} -> tensor<4x2xf8E5M2>
// CHECK-NOT: "fp8.quantize"
// CHECK: "fp8.scaled_dot"(%[[G]], {{.*}}contracting_dimensions = [1]>, mlir_fp8.gradient = "lhs"{{.*}} : (tensor<4x2xf8E5M2>, tensor<8x2xf8E4M3FN>,
// CHECK: "fp8.scaled_dot"({{.*}}, %[[G]], {{.*}}contracting_dimensions = [0]>, mlir_fp8.gradient = "rhs"{{.*}} : (tensor<4x8xf8E4M3FN>, tensor<4x2xf8E5M2>,
// CHECK-NOT: @layer
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> (tensor<4x8xf32>, tensor<8x2xf32>) {
  %0 = call @layer(%x, %w) : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<4x2xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [1] : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<8x2xf32>
}
func.func private @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// The state of quantizers in the body is loop-carried; the weight is loop-invariant, and quantized
// once before it.
// CHECK-LABEL: func.func @main(
// CHECK: %[[NEW:.*]]:2 = "fp8.update_scale"(%arg5, %arg6, {{.*}}
// CHECK: %[[W:.*]] = "fp8.quantize"(%arg1, %[[NEW]]#0)
// CHECK: %[[LOOP:.*]]:5 = stablehlo.while({{.*}}, %[[SCALE:.*]] = %arg3, %[[HISTORY:.*]] = %arg4)
// CHECK-SAME: tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<4xf32>
// CHECK: %[[NEXT:.*]]:2 = "fp8.update_scale"(%[[SCALE]], %[[HISTORY]],
// CHECK: %[[Q:.*]] = "fp8.quantize"(%{{.*}}, %[[NEXT]]#0)
// CHECK: "fp8.scaled_dot"(%[[Q]], %[[W]], %[[NEXT]]#0, %[[NEW]]#0)
// CHECK: stablehlo.return {{.*}}, %[[NEXT]]#0, %[[NEXT]]#1
// CHECK: return %[[LOOP]]#1, %[[LOOP]]#3, %[[LOOP]]#4, %[[NEW]]#0, %[[NEW]]#1
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %n: tensor<i32>) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %c, %h = %x, %k = %w) : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %h, %k, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1, %k : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
    }
  return %0#1 : tensor<8x8xf32>
}

// -----

// A branch that is not taken forwards the state.
// CHECK-LABEL: func.func @main(
// CHECK: %[[IF:.*]]:3 = "stablehlo.if"(%arg0) ({
// CHECK: stablehlo.return %{{.*}}, %[[NEW:.*]]#0, %[[NEW]]#1 : tensor<8x8xf32>, tensor<f32>, tensor<4xf32>
// CHECK: }, {
// CHECK: stablehlo.return %arg1, %arg2, %arg3 : tensor<8x8xf32>, tensor<f32>, tensor<4xf32>
// CHECK: return %[[IF]]#0, %[[IF]]#1, %[[IF]]#2
func.func @main(%p: tensor<i1>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.tanh %x : tensor<8x8xf32>
    %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %2 : tensor<8x8xf32>
  }, {
    stablehlo.return %x : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK: "fp8.scaled_convolution"
// CHECK-SAME: dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, fast_accum,
// CHECK-SAME: (tensor<1x6x6x2xf8E4M3FN>, tensor<3x3x2x5xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<1x4x4x5xf16>
func.func @main(%x: tensor<1x6x6x2xf16>, %k: tensor<3x3x2x5xf16>) -> tensor<1x4x4x5xf16> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x6x6x2xf16>, tensor<3x3x2x5xf16>) -> tensor<1x4x4x5xf16>
  return %0 : tensor<1x4x4x5xf16>
}

// -----

// Without summands and without rows.
// CHECK-LABEL: func.func @main(
// CHECK: "fp8.scaled_dot"{{.*}} : (tensor<4x0xf8E4M3FN>, tensor<0x2xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
// CHECK: "fp8.scaled_dot"{{.*}} : (tensor<0x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<0x2xf32>
func.func @main(%a: tensor<4x0xf32>, %b: tensor<0x2xf32>, %c: tensor<0x4xf32>) -> (tensor<4x2xf32>, tensor<0x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x0xf32>, tensor<0x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.dot_general %c, %0, contracting_dims = [1] x [0] : (tensor<0x4xf32>, tensor<4x2xf32>) -> tensor<0x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<0x2xf32>
}

// -----

// A dot without fast accumulation stays so.
// CHECK-LABEL: func.func @main(
// CHECK: "fp8.scaled_dot"({{.*}}contracting_dimensions = [0]>, mlir_fp8.gradient = "none"
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// The scale of each block is the exponent of its amax: with "ceil" mantissas above 1.75 carry.
// MX: func.func @main(%arg0: tensor<4x64xbf16>, %arg1: tensor<64x2xbf16>)
// MX: %[[AMAX:.*]] = stablehlo.reduce({{.*}} stablehlo.maximum across dimensions = [1, 3] : (tensor<4x1x2x32xf32>
// MX: %[[BITS:.*]] = stablehlo.bitcast_convert %[[AMAX]] : (tensor<4x2xf32>) -> tensor<4x2xi32>
// MX: stablehlo.constant dense<2097151>
// MX: %[[S:.*]] = stablehlo.bitcast_convert {{.*}} : (tensor<4x2xui8>) -> tensor<4x2xf8E8M0FNU>
// MX: %[[A:.*]] = "fp8.quantize"(%{{.*}}, %[[S]]) {saturate} : (tensor<4x64xf32>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf8E4M3FN>
// MX: %[[B:.*]] = "fp8.quantize"(%{{.*}}, %[[T:.*]]) {saturate} : (tensor<64x2xf32>, tensor<2x2xf8E8M0FNU>) -> tensor<64x2xf8E4M3FN>
// MX: "fp8.scaled_dot"(%[[A]], %[[B]], %[[S]], %[[T]])
// MX-SAME: operand_type = f32
// MX-SAME: -> tensor<4x2xbf16>

// The numbers of both tensors multiply the sum in f32, before it is rounded to bf16.
// FP4: func.func @main(%arg0: tensor<4x64xbf16>, %arg1: tensor<64x2xbf16>)
// FP4: %[[D:.*]] = "fp8.scaled_dot"({{.*}} (tensor<4x64xf4E2M1FN>, tensor<64x2xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<4x2xf32>
// FP4: %[[N:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<f32>
// FP4: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[N]]
// FP4: %[[Y:.*]] = stablehlo.multiply %[[D]], %[[ALL]] : tensor<4x2xf32>
// FP4: stablehlo.convert %[[Y]] : (tensor<4x2xf32>) -> tensor<4x2xbf16>
func.func @main(%a: tensor<4x64xbf16>, %b: tensor<64x2xbf16>) -> tensor<4x2xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x64xbf16>, tensor<64x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// A transposed tensor is quantized as it is, where its blocks are those of the dot.
// MX: func.func @main(%arg0: tensor<4x64xf32>, %arg1: tensor<4x64xf32>)
// MX: %[[Q:.*]] = "fp8.quantize"(%arg1, %{{.*}}) {saturate} : (tensor<4x64xf32>, tensor<4x2xf8E8M0FNU>)
// MX: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<4x2xf8E8M0FNU>) -> tensor<2x4xf8E8M0FNU>
// MX: stablehlo.transpose %[[Q]], dims = [1, 0] : (tensor<4x64xf8E4M3FN>) -> tensor<64x4xf8E4M3FN>

// Of a backward dot both operands are transformed, and the gradient is rounded at random.
// FP4: func.func @main(%arg0: tensor<4x64xf32>, %arg1: tensor<4x64xf32>)
// FP4: stablehlo.dot_general {{.*}} (tensor<4x4x16xf32>, tensor<16x16xf32>)
// FP4: "fp8.convert"({{.*}}rounding = "stochastic", saturate, seed = {{.*}} (tensor<4x4x16xf32>, tensor<ui64>) -> tensor<4x4x16xf4E2M1FN>
// FP4: stablehlo.dot_general {{.*}} (tensor<4x4x16xf32>, tensor<16x16xf32>)
// FP4: "fp8.quantize"({{.*}} -> tensor<4x4x16xf4E2M1FN>
func.func @main(%a: tensor<4x64xf32>, %b: tensor<4x64xf32>) -> tensor<4x4xf32> {
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x64xf32>) -> tensor<64x4xf32>
  %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] {mlir_fp8.gradient = "lhs"} : (tensor<4x64xf32>, tensor<64x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// What is no whole number of blocks is filled up with zeros.
// MX: func.func @main(%arg0: tensor<4x40xf32>, %arg1: tensor<40x2xf32>)
// MX: stablehlo.pad {{.*}} high = [0, 24], {{.*}} (tensor<4x40xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4x64xf8E4M3FN>
// MX: "fp8.scaled_dot"({{.*}} (tensor<4x64xf8E4M3FN>, tensor<64x2xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<2x2xf8E8M0FNU>)
func.func @main(%a: tensor<4x40xf32>, %b: tensor<40x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x40xf32>, tensor<40x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
