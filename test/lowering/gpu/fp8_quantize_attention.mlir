// RUN: fp8-opt %s --split-input-file --fp8-quantize-attention | filecheck %s
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-quantize-attention{power-of-two=true})' | filecheck %s --check-prefix=POWER
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(fp8-quantize-attention{remarks=true})' -o %t 2>&1 | filecheck %s --check-prefix=REMARKS

// REMARKS: remark: 'fp8.attention' is of f8, with scales of heads
// REMARKS: remark: 'fp8.attention' is of f8, with scales of heads
// REMARKS: remark: 'fp8.attention' stays as it is: its k_scale is not one number, or one for each head
// REMARKS: remark: 'fp8.attention' stays as it is: q, k and v are small already
// REMARKS: remark: 'fp8.attention' stays as it is: it has a bias
// REMARKS: remark: 'fp8.attention' stays as it is: no attention of 6x72 by 9 keys: heads of Q and K are no multiple of 16, as strides of TMA are

// A scale for each head; scores in f32; one tensor as k and v is quantized once.
// CHECK-LABEL: func.func @wide(
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = {{.*}} -> tensor<1x4x1x1xf32>
// CHECK: %[[Q:.*]] = "fp8.quantize"(%{{.*}}, %[[QS:.*]]) {saturate} : (tensor<1x4x6x64xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x6x64xf8E4M3FN>
// CHECK: %[[K:.*]] = "fp8.quantize"(%{{.*}}, %[[KS:.*]]) {saturate} : (tensor<1x2x9x64xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x9x64xf8E4M3FN>
// CHECK-NOT: fp8.quantize
// CHECK: %[[O:.*]] = "fp8.attention"(%[[Q]], %[[K]], %[[K]], %[[QS]], %[[KS]], %[[KS]], %arg2) {causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1>, p_factor = {{.*}}, p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN, scale = 1.250000e-01 : f32, window = 5 : i64} : {{.*}} -> tensor<1x4x6x64xbf16>
// CHECK-NEXT: return %[[O]]
// POWER-LABEL: func.func @wide(
// POWER: stablehlo.clamp
// POWER: "fp8.attention"
func.func @wide(%q: tensor<1x4x6x64xbf16>, %k: tensor<1x2x9x64xbf16>, %at: tensor<i32>) -> tensor<1x4x6x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %k, %at) {causal, window = 5, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>, qk_type = bf16, score_type = bf16, pv_type = bf16, scale = 1.250000e-01 : f32} : (tensor<1x4x6x64xbf16>, tensor<1x2x9x64xbf16>, tensor<1x2x9x64xbf16>, tensor<i32>) -> tensor<1x4x6x64xbf16>
  return %0 : tensor<1x4x6x64xbf16>
}

// -----

// A cache in f8 keeps its scales; heads of one query that share a head of it have one.
// CHECK-LABEL: func.func @cache(
// CHECK: %[[Q:.*]] = "fp8.quantize"(%{{.*}}, %[[QS:.*]]) {saturate} : (tensor<1x4x1x64xf32>, tensor<1x2x1x1xf32>)
// CHECK-NEXT: "fp8.attention"(%[[Q]], %arg1, %arg1, %[[QS]], %arg2, %arg2) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>, p_factor = {{.*}}, p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN}
func.func @cache(%q: tensor<1x4x1x64xbf16>, %k: tensor<1x2x9x64xf8E4M3FN>, %s: tensor<1x2x1x1xf32>) -> tensor<1x4x1x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %k, %s, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0, 0, 0>, qk_type = bf16, pv_type = bf16} : (tensor<1x4x1x64xbf16>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x4x1x64xbf16>
  return %0 : tensor<1x4x1x64xbf16>
}

// -----

// CHECK-LABEL: func.func @tokens(
// CHECK-NEXT: "fp8.attention"(%arg0, %arg1, %arg1, %arg2)
func.func @tokens(%q: tensor<1x4x1x64xbf16>, %k: tensor<1x2x9x64xf8E4M3FN>, %s: tensor<1x2x9x1xf32>) -> tensor<1x4x1x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %k, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0>, qk_type = bf16, pv_type = bf16} : (tensor<1x4x1x64xbf16>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x9x1xf32>) -> tensor<1x4x1x64xbf16>
  return %0 : tensor<1x4x1x64xbf16>
}

// -----

// CHECK-LABEL: func.func @small(
// CHECK-NEXT: "fp8.attention"(%arg0, %arg1, %arg1)
func.func @small(%q: tensor<1x4x6x64xf8E4M3FN>, %k: tensor<1x2x9x64xf8E4M3FN>) -> tensor<1x4x6x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>, p_type = f8E4M3FN} : (tensor<1x4x6x64xf8E4M3FN>, tensor<1x2x9x64xf8E4M3FN>, tensor<1x2x9x64xf8E4M3FN>) -> tensor<1x4x6x64xbf16>
  return %0 : tensor<1x4x6x64xbf16>
}

// -----

// CHECK-LABEL: func.func @bias(
// CHECK-NEXT: "fp8.attention"(%arg0, %arg1, %arg1, %arg2)
func.func @bias(%q: tensor<1x4x6x64xbf16>, %k: tensor<1x2x9x64xbf16>, %b: tensor<1x1x6x9xbf16>) -> tensor<1x4x6x64xbf16> {
  %0 = "fp8.attention"(%q, %k, %k, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0>, qk_type = bf16, pv_type = bf16} : (tensor<1x4x6x64xbf16>, tensor<1x2x9x64xbf16>, tensor<1x2x9x64xbf16>, tensor<1x1x6x9xbf16>) -> tensor<1x4x6x64xbf16>
  return %0 : tensor<1x4x6x64xbf16>
}

// -----

// CHECK-LABEL: func.func @sizes(
// CHECK-NEXT: "fp8.attention"(%arg0, %arg1, %arg1)
func.func @sizes(%q: tensor<1x4x6x72xbf16>, %k: tensor<1x2x9x72xbf16>) -> tensor<1x4x6x72xbf16> {
  %0 = "fp8.attention"(%q, %k, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>, qk_type = bf16, pv_type = bf16} : (tensor<1x4x6x72xbf16>, tensor<1x2x9x72xbf16>, tensor<1x2x9x72xbf16>) -> tensor<1x4x6x72xbf16>
  return %0 : tensor<1x4x6x72xbf16>
}
