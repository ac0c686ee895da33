// RUN: fp8-opt %s --split-input-file --fp8-quantize-cache='cache=cache' | filecheck %s
// RUN: fp8-opt %s --split-input-file --fp8-quantize-cache='cache=cache scales=head format=f8E5M2 remarks' 2>&1 | filecheck %s --check-prefix=HEAD

// Rows are quantized by their own scale, the sum of the codes is scaled in f32.

// HEAD: remark: cache 'cache' (2x16x8) becomes f8E5M2, 2x1x1 scale, taken

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<2x16x8xf8E4M3FN> {mlir_fp8.cache = "cache_scale", mlir_fp8.name = "cache", mlir_fp8.scale_block = array<i64: 1, 1, 0>, tf.aliasing_output = 0 : i32},
// CHECK-SAME:    %[[R:[a-z0-9]+]]: tensor<2x1x8xbf16>,
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<2x3x8xbf16>,
// CHECK-SAME:    %[[AT:[a-z0-9]+]]: tensor<i32>,
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<2x16x1xf32> {mlir_fp8.name = "cache_scale", tf.aliasing_output = 2 : i32})
// CHECK-SAME:    -> (tensor<2x16x8xf8E4M3FN> {mlir_fp8.cache = "cache"}, tensor<2x3x16xf32>, tensor<2x16x1xf32> {mlir_fp8.cache = "cache_scale", mlir_fp8.name = "cache_scale"})
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK:         %[[AMAX:.*]] = stablehlo.reduce
// CHECK:         %[[RS:.*]] = stablehlo.select {{.*}} tensor<2x1x1xf32>
// CHECK:         %[[CODES:.*]] = "fp8.quantize"({{.*}}, %[[RS]]) {saturate} : (tensor<2x1x8xf32>, tensor<2x1x1xf32>) -> tensor<2x1x8xf8E4M3FN>
// CHECK:         %[[NEW:.*]] = stablehlo.dynamic_update_slice %[[C]], %[[CODES]], %[[ZERO]], %[[AT]], %[[ZERO]]
// CHECK:         %[[NS:.*]] = stablehlo.dynamic_update_slice %[[S]], %[[RS]], %[[ZERO]], %[[AT]], %[[ZERO]]
// CHECK:         %[[B:.*]] = stablehlo.convert %[[NEW]] : (tensor<2x16x8xf8E4M3FN>) -> tensor<2x16x8xbf16>
// CHECK:         %[[SUM:.*]] = stablehlo.dot_general %[[Q]], %[[B]], {{.*}} -> tensor<2x3x16xf32>
// CHECK:         %[[SCORES:.*]] = stablehlo.multiply %[[SUM]]
// CHECK:         return %[[NEW]], %[[SCORES]], %[[NS]]

// HEAD-LABEL: func.func @main(
// HEAD-SAME:    tensor<2x1x1xf32> {mlir_fp8.name = "cache_scale"}) -> (tensor<2x16x8xf8E5M2> {mlir_fp8.cache = "cache"}, tensor<2x3x16xf32>)
// HEAD:         stablehlo.dynamic_slice {{.*}} sizes = [2, 1, 1]
// HEAD:         "fp8.quantize"{{.*}} -> tensor<2x1x8xf8E5M2>
func.func @main(%cache: tensor<2x16x8xbf16> {mlir_fp8.name = "cache", tf.aliasing_output = 0 : i32}, %row: tensor<2x1x8xbf16>,
    %q: tensor<2x3x8xbf16>, %at: tensor<i32>) -> (tensor<2x16x8xbf16>, tensor<2x3x16xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %cache, %row, %zero, %at, %zero
    : (tensor<2x16x8xbf16>, tensor<2x1x8xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x8xbf16>
  %scores = stablehlo.dot_general %q, %new, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<2x3x8xbf16>, tensor<2x16x8xbf16>) -> tensor<2x3x16xf32>
  return %new, %scores : tensor<2x16x8xbf16>, tensor<2x3x16xf32>
}

// -----

// A loop carries codes and scales. A dot over tokens: the shares are scaled.

// CHECK-LABEL: func.func @main(
// CHECK:         stablehlo.while({{.*}}) : tensor<i32>, tensor<2x16x8xf8E4M3FN>, tensor<2x8xf32>, tensor<2x16x1xf32>
// CHECK:         stablehlo.dynamic_update_slice {{.*}} tensor<2x16x8xf8E4M3FN>
// CHECK:         stablehlo.dynamic_update_slice {{.*}} tensor<2x16x1xf32>
// CHECK:         %[[SHARES:.*]] = stablehlo.multiply {{.*}} : tensor<2x16xf32>
// CHECK:         stablehlo.dot_general %[[SHARES]], {{.*}} contracting_dims = [1] x [1]
func.func @main(%p: tensor<2x16xf32>, %cache: tensor<2x16x8xf32> {mlir_fp8.name = "cache"}, %x: tensor<2x8xf32>)
    -> (tensor<2x16x8xf32>, tensor<2x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<16> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %c = %cache, %y = %x) : tensor<i32>, tensor<2x16x8xf32>, tensor<2x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %row = stablehlo.reshape %y : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
    %new = stablehlo.dynamic_update_slice %c, %row, %zero, %i, %zero
      : (tensor<2x16x8xf32>, tensor<2x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x8xf32>
    %read = stablehlo.dot_general %p, %new, batching_dims = [0] x [0], contracting_dims = [1] x [1]
      : (tensor<2x16xf32>, tensor<2x16x8xf32>) -> tensor<2x8xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %new, %read : tensor<i32>, tensor<2x16x8xf32>, tensor<2x8xf32>
  }
  return %0#1, %0#2 : tensor<2x16x8xf32>, tensor<2x8xf32>
}
