// RUN: fp8-opt %s --split-input-file --fp8-kernels-for-xla-gpu | filecheck %s
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-kernels-for-xla-gpu{target=h100 remarks=true})' -o %t 2>&1 | filecheck %s --check-prefix=REMARKS
// RUN: fp8-opt %s --split-input-file --fp8-to-composite --fp8-kernels-for-xla-gpu --fp8-to-composite | filecheck %s --check-prefix=COMPOSITE
// RUN: not fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-kernels-for-xla-gpu{target=a100})' 2>&1 | filecheck %s --check-prefix=TARGET

// TARGET: error: option 'target' is one of h100, h200, or a table's .json, not 'a100'

// Codes that one dot takes as they are and one transposed, and amax, in one read of the bf16 tensor.
// The dot then contracts the last dimension. The sizes are those of one tile: 128 by 128.
// CHECK-LABEL: func.func @both_ways(
// CHECK-NOT: stablehlo.reduce
// CHECK: %[[K:.*]]:3 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %arg1, %{{.*}}) {api_version = 4 : i32, backend_config = {block_x = 256 : i32, block_y = 1 : i32, block_z = 1 : i32, grid_x = 32 : i32, grid_y = 64 : i32, grid_z = 1 : i32, kernel_data = "{{.*}}.target sm_90a{{.*}}", kernel_type = "ptx", name = "quantize_transpose", output_indices = [3 : i32, 4 : i32, 5 : i32], shared_mem_bytes = 0 : i32}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 2, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<8192x4096xbf16>, tensor<f32>, tensor<f32>) -> (tensor<8192x4096xf8E4M3FN>, tensor<4096x8192xf8E4M3FN>, tensor<f32>)
// CHECK: "fp8.scaled_dot"(%[[K]]#0, %arg2, {{.*}} {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>
// CHECK: "fp8.scaled_dot"(%[[K]]#1, %arg3, {{.*}} {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
// CHECK: return %{{.*}}, %{{.*}}, %[[K]]#2
// REMARKS: fp8_kernels_for_xla_gpu.mlir:{{.*}}: remark: 'fp8.quantize' becomes quantize_transpose: {{.*}} us by the table, {{.*}} by XLA
// COMPOSITE-LABEL: func.func @both_ways(
// COMPOSITE: %[[K:.*]]:3 = stablehlo.custom_call @__gpu$xla.gpu.ptx(
// COMPOSITE: stablehlo.composite "fp8.scaled_dot" %[[K]]#0,
func.func @both_ways(%x: tensor<8192x4096xbf16>, %s: tensor<f32>, %w: tensor<64x4096xf8E4M3FN>, %g: tensor<8192x64xf8E5M2>) -> (tensor<8192x64xf32>, tensor<4096x64xf32>, tensor<f32>) {
  %0 = stablehlo.convert %x : (tensor<8192x4096xbf16>) -> tensor<8192x4096xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.abs %0 : tensor<8192x4096xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<f32>
  %q = "fp8.quantize"(%0, %s) {saturate} : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<8192x4096xf8E4M3FN>
  %3 = "fp8.scaled_dot"(%q, %w, %s) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<8192x4096xf8E4M3FN>, tensor<64x4096xf8E4M3FN>, tensor<f32>) -> tensor<8192x64xf32>
  %4 = "fp8.scaled_dot"(%q, %g, %s) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<8192x4096xf8E4M3FN>, tensor<8192x64xf8E5M2>, tensor<f32>) -> tensor<4096x64xf32>
  return %3, %4, %2 : tensor<8192x64xf32>, tensor<4096x64xf32>, tensor<f32>
}

// -----

// The scale is made of amax, which is then no result of the kernel: the tensor is read twice. A
// reciprocal multiplies. Of a transpose alone there are no other codes.
// CHECK-LABEL: func.func @current(
// CHECK: stablehlo.reduce
// CHECK: %[[K:.*]] = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %{{.*}}) {{.*}} : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf8E5M2>
// CHECK-NEXT: return %[[K]]
func.func @current(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf8E5M2> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.abs %x : tensor<4096x4096xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.divide %one, %1 : tensor<f32>
  %q = "fp8.quantize"(%x, %s) {inverse, saturate} : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf8E5M2>
  %t = stablehlo.transpose %q, dims = [1, 0] : (tensor<4096x4096xf8E5M2>) -> tensor<4096x4096xf8E5M2>
  return %t : tensor<4096x4096xf8E5M2>
}

// -----

// Left to XLA: nothing is transposed; not saturated; bf16 arithmetic; a scale of rows that is not
// made of their amax; what XLA would fuse, of which a kernel would need all in memory.
// CHECK-LABEL: func.func @left(
// CHECK-NOT: custom_call
// CHECK: return
// REMARKS: remark: 'fp8.quantize' is left to XLA: no dot takes its transpose, and XLA quantizes as fast
// REMARKS: remark: 'fp8.quantize' is left to XLA: it does not saturate to f8E4M3FN or f8E5M2
// REMARKS: remark: 'fp8.quantize' is left to XLA: it divides in bf16
// REMARKS: remark: 'fp8.quantize' is left to XLA: its scale is not made of the amax of what it divides
// REMARKS: remark: 'fp8.quantize' is left to XLA: tensor<8xf32> is no matrix
func.func @left(%x: tensor<4096x4096xf32>, %b: tensor<64x64xbf16>, %c: tensor<8xf32>, %s: tensor<f32>, %r: tensor<4096x1xf32>) -> (tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>, tensor<8xf8E4M3FN>) {
  %0 = "fp8.quantize"(%x, %s) {saturate} : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf8E4M3FN>
  %1 = "fp8.quantize"(%x, %s) : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf8E4M3FN>
  %2 = "fp8.quantize"(%b, %s) {saturate} : (tensor<64x64xbf16>, tensor<f32>) -> tensor<64x64xf8E4M3FN>
  %3 = "fp8.quantize"(%x, %r) {saturate} : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf8E4M3FN>
  %4 = "fp8.quantize"(%c, %s) {saturate} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
  return %0, %1, %2, %3, %4 : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>, tensor<8xf8E4M3FN>
}

// -----

// Activations of several sequences: the leading dimensions are rows. In what is transposed they come
// behind, and the dot contracts them there.
// CHECK-LABEL: func.func @sequences(
// CHECK: %[[K:.*]]:2 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %arg1) {{.*}} grid_x = 8 : i32, grid_y = 64 : i32, {{.*}} operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<> : tensor<0xindex>]{{.*}} : (tensor<4x2048x1024xbf16>, tensor<f32>) -> (tensor<4x2048x1024xf8E4M3FN>, tensor<1024x4x2048xf8E4M3FN>)
// CHECK: "fp8.scaled_dot"(%[[K]]#1, %arg2, {{.*}}lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1]
// CHECK: return %{{.*}}, %[[K]]#0
func.func @sequences(%x: tensor<4x2048x1024xbf16>, %s: tensor<f32>, %g: tensor<4x2048x64xf8E5M2>) -> (tensor<1024x64xf32>, tensor<4x2048x1024xf8E4M3FN>) {
  %0 = stablehlo.convert %x : (tensor<4x2048x1024xbf16>) -> tensor<4x2048x1024xf32>
  %q = "fp8.quantize"(%0, %s) {saturate} : (tensor<4x2048x1024xf32>, tensor<f32>) -> tensor<4x2048x1024xf8E4M3FN>
  %1 = "fp8.scaled_dot"(%q, %g, %s) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<4x2048x1024xf8E4M3FN>, tensor<4x2048x64xf8E5M2>, tensor<f32>) -> tensor<1024x64xf32>
  return %1, %q : tensor<1024x64xf32>, tensor<4x2048x1024xf8E4M3FN>
}

// -----

// "flax": the scales of all tensors at the start, the histories at the end.
// CHECK-LABEL: func.func @flax(
// CHECK: %[[S:.*]]:2 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %arg1, %arg2, %arg3) {{.*}} : (tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<f32>, tensor<f32>)
// CHECK: %[[H:.*]]:2 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg1, %arg4, %arg3, %[[AMAX:.*]]) {{.*}} : (tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>)
// CHECK: return %[[S]]#0, %[[H]]#0, %[[S]]#1, %[[H]]#1
// REMARKS: remark: 'fp8.update_scale' becomes update_scales: it and 1 like it in one launch
func.func @flax(%s: tensor<f32>, %h: tensor<16xf32>, %t: tensor<f32>, %k: tensor<16xf32>, %a: tensor<f32>) -> (tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) {
  %0:2 = "fp8.update_scale"(%s, %h, %a) {format = f8E4M3FN, recipe = "flax"} : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<f32>, tensor<16xf32>)
  %b = stablehlo.multiply %a, %0#0 : tensor<f32>
  %1:2 = "fp8.update_scale"(%t, %k, %b) {format = f8E5M2, margin = 1.0 : f32, recipe = "flax"} : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<f32>, tensor<16xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>
}

// -----

// "transformer_engine": both at the end. One that is used before, and one alone of its history's
// size, are left.
// CHECK-LABEL: func.func @transformer_engine(
// CHECK: "fp8.update_scale"(%arg0, %arg1, %arg4)
// CHECK: "fp8.update_scale"(%arg0, %arg5, %arg4)
// CHECK: %[[K:.*]]:4 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %arg1, %arg4, %arg2, %arg3, %arg4) {{.*}} -> (tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>)
// CHECK-NEXT: return %{{.*}}, %[[K]]#0, %[[K]]#1, %[[K]]#2, %[[K]]#3
func.func @transformer_engine(%s: tensor<f32>, %h: tensor<16xf32>, %t: tensor<f32>, %k: tensor<16xf32>, %a: tensor<f32>, %l: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<4xf32>) {
  %0:2 = "fp8.update_scale"(%s, %h, %a) {format = f8E4M3FN, recipe = "transformer_engine"} : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<f32>, tensor<16xf32>)
  %b = stablehlo.multiply %a, %0#0 : tensor<f32>
  %1:2 = "fp8.update_scale"(%s, %h, %a) {format = f8E4M3FN, recipe = "transformer_engine"} : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<f32>, tensor<16xf32>)
  %2:2 = "fp8.update_scale"(%t, %k, %a) {format = f8E4M3FN, recipe = "transformer_engine"} : (tensor<f32>, tensor<16xf32>, tensor<f32>) -> (tensor<f32>, tensor<16xf32>)
  %3:2 = "fp8.update_scale"(%s, %l, %a) {format = f8E4M3FN, recipe = "transformer_engine"} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %b, %1#0, %1#1, %2#0, %2#1, %3#1 : tensor<f32>, tensor<f32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<4xf32>
}

// -----

// Attention of so few queries, of which no time is known, is left unless it is asked for.
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-kernels-for-xla-gpu{attention=true})' | filecheck %s --check-prefix=ATTENTION
// CHECK-LABEL: func.func @attention(
// CHECK: "fp8.attention"
// ATTENTION-LABEL: func.func @attention(
// ATTENTION: %[[K:.*]] = stablehlo.pad %arg1, %{{.*}}, low = [0, 0, 0, 0], high = [0, 0, 10, 0]
// ATTENTION: %[[T:.*]] = stablehlo.transpose %arg2, dims = [0, 1, 3, 2]
// ATTENTION: %[[V:.*]] = stablehlo.pad %[[T]], %{{.*}}, low = [0, 0, 0, 0], high = [0, 0, 0, 10]
// ATTENTION: %[[AT:.*]] = stablehlo.clamp %{{.*}}, %arg4, %{{.*}} : tensor<i64>
// ATTENTION: %[[O:.*]]:2 = stablehlo.custom_call @__gpu$xla.gpu.ptx(%arg0, %[[K]], %[[V]], %{{.*}}, %{{.*}}, %{{.*}}) {{.*}} -> (tensor<1x4x6x64xbf16>, tensor<1536xi8>)
// ATTENTION-NEXT: return %[[O]]#0
func.func @attention(%q: tensor<1x4x6x64xf8E4M3FN>, %k: tensor<1x2x70x64xf8E4M3FN>, %v: tensor<1x2x70x64xf8E4M3FN>, %ks: tensor<1x2x1x1xf32>, %at: tensor<i64>) -> tensor<1x4x6x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %v, %ks, %at) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 1>, p_type = f8E4M3FN} : (tensor<1x4x6x64xf8E4M3FN>, tensor<1x2x70x64xf8E4M3FN>, tensor<1x2x70x64xf8E4M3FN>, tensor<1x2x1x1xf32>, tensor<i64>) -> tensor<1x4x6x64xbf16>
  return %0 : tensor<1x4x6x64xbf16>
}
