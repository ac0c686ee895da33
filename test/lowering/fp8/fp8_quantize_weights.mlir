// RUN: fp8-opt %s --split-input-file --fp8-quantize-weights='weights=w;table' | filecheck %s
// RUN: fp8-opt %s --split-input-file --fp8-quantize-weights='weights=w;table recipe=current scales=group32' | filecheck %s --check-prefix=CURRENT

// The sum of the codes is scaled, in f32, once per output channel.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x64xbf16>,
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<8x64xf8E4M3FN> {mlir_fp8.name = "w", mlir_fp8.scale_block = array<i64: 1, 0>, mlir_fp8.weight_scale = "w_scale"},
// CHECK-SAME:    %[[TABLE:[a-z0-9]+]]: tensor<10x64xf8E4M3FN> {{.*}}mlir_fp8.scale_block = array<i64: 1, 0>
// CHECK-SAME:    %[[AT:[a-z0-9]+]]: tensor<3x1xi32>
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<8x1xf32> {mlir_fp8.name = "w_scale"},
// CHECK-SAME:    %[[TS:[a-z0-9]+]]: tensor<10x1xf32> {mlir_fp8.name = "table_scale"}
// CHECK:         stablehlo.transpose %[[S]]
// CHECK:         %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0] : (tensor<8x64xf8E4M3FN>) -> tensor<64x8xf8E4M3FN>
// CHECK:         %[[B:.*]] = stablehlo.convert %[[T]] : (tensor<64x8xf8E4M3FN>) -> tensor<64x8xbf16>
// CHECK:         %[[SUM:.*]] = stablehlo.dot_general %[[X]], %[[B]], {{.*}} -> tensor<4x8xf32>
// CHECK:         %[[SCALED:.*]] = stablehlo.multiply %[[SUM]]
// CHECK:         stablehlo.convert %[[SCALED]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// Rows of a table are looked up as codes, and their scales by the same indices.
// CHECK:         %[[ROWSCALES:.*]] = "stablehlo.gather"(%[[TS]], %[[AT]]){{.*}}slice_sizes = array<i64: 1, 1>
// CHECK:         %[[ROWS:.*]] = "stablehlo.gather"(%[[TABLE]], %[[AT]]){{.*}}slice_sizes = array<i64: 1, 64>
// CHECK:         "fp8.dequantize"(%[[ROWS]], %[[ROWSCALES]]) : (tensor<3x64xf8E4M3FN>, tensor<3x1xf32>) -> tensor<3x64xf32>

// CURRENT-LABEL: func.func @main(
// CURRENT-SAME:    tensor<8x2xf32> {mlir_fp8.name = "w_scale"}
// CURRENT:         "fp8.quantize"
// CURRENT:         "fp8.scaled_dot"({{.*}}operand_type = f32{{.*}}(tensor<4x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<f32>, tensor<2x8xf32>) -> tensor<4x8xbf16>
func.func @main(%x: tensor<4x64xbf16>, %w: tensor<8x64xbf16> {mlir_fp8.name = "w"},
    %table: tensor<10x64xf32> {mlir_fp8.name = "table"}, %at: tensor<3x1xi32>)
    -> (tensor<4x8xbf16>, tensor<3x64xf32>) {
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x64xbf16>) -> tensor<64x8xbf16>
  %y = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0]
    : (tensor<4x64xbf16>, tensor<64x8xbf16>) -> tensor<4x8xbf16>
  %rows = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 64>}> : (tensor<10x64xf32>, tensor<3x1xi32>) -> tensor<3x64xf32>
  return %y, %rows : tensor<4x8xbf16>, tensor<3x64xf32>
}

// -----

// A stacked weight that a loop takes slices of: no loop carries it.

// CURRENT-LABEL: func.func @main(

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<2x8x8xf8E4M3FN>
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<2x1x8xf32>
// CHECK:         stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<4x8xf32>
// CHECK:         stablehlo.dynamic_slice %[[S]], {{.*}}, sizes = [1, 1, 8]
// CHECK:         stablehlo.dynamic_slice %[[W]], {{.*}}, sizes = [1, 8, 8]
// CHECK:         stablehlo.dot_general
func.func @main(%w: tensor<2x8x8xf32> {mlir_fp8.name = "w"}, %x: tensor<4x8xf32>,
    %table: tensor<2x8x8xf32> {mlir_fp8.name = "table"}) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %i, %y, %held = stablehlo.while(%n = %zero, %h = %x, %carried = %w)
      : tensor<i32>, tensor<4x8xf32>, tensor<2x8x8xf32>
  cond {
    %more = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %carried, %n, %zero, %zero, sizes = [1, 8, 8]
      : (tensor<2x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = stablehlo.reshape %slice : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %next = stablehlo.dot_general %h, %layer, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %after = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %after, %next, %carried : tensor<i32>, tensor<4x8xf32>, tensor<2x8x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// Factors of SmoothQuant: the activation is multiplied by their reciprocals before it is quantized,
// and the argument keeps them for those who prepare it.

// CURRENT-LABEL: func.func @main(
// CURRENT-SAME:    tensor<4x2xf8E4M3FN> {mlir_fp8.name = "w", {{.*}}mlir_fp8.smoothing = dense<{{\[\[}}2.000000e+00], [1.000000e+00], [4.000000e+00], [5.000000e-01]]> : tensor<4x1xf32>
// CURRENT:         %[[R:.*]] = stablehlo.constant dense<{{\[\[}}5.000000e-01, 1.000000e+00, 2.500000e-01, 2.000000e+00]]> : tensor<1x4xf32>
// CURRENT:         %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[R]]
// CURRENT:         %[[X:.*]] = stablehlo.multiply %{{.*}}, %[[WIDE]] : tensor<3x4xf32>
// CURRENT:         "fp8.quantize"(%[[X]]

// Where activations stay wide, nothing is shifted.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     mlir_fp8.smoothing
func.func @main(%x: tensor<3x4xf32>, %table: tensor<2x4xf32> {mlir_fp8.name = "table"},
    %w: tensor<4x2xf32> {mlir_fp8.name = "w",
      mlir_fp8.smoothing = dense<[[2.0], [1.0], [4.0], [0.5]]> : tensor<4x1xf32>})
    -> tensor<3x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
