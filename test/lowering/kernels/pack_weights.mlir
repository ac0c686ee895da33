// RUN: fp8-opt %s --pack-weights='weights=w;v;t;odd;two;s target=avx2 remarks=true' 2>%t \
// RUN:   | filecheck %s
// RUN: filecheck %s --check-prefix=WHY --input-file=%t
// RUN: fp8-opt %s --pack-weights='weights=v target=amx-bf16' | filecheck %s --check-prefix=PAIRS
// RUN: not fp8-opt %s --pack-weights='weights=u' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: {{.*}}has no argument 'u' (arguments: x, q, w, v, t, odd, two, s)

// A panel of AVX2 has 16 columns, of AMX 32, with pairs of summands side by side.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x64xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<5x64x16xf32> {mlir_fp8.name = "w", mlir_fp8.packed = array<i64: 64, 70, 0, 16, 1>}
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<3x64x16xf8E5M2> {mlir_fp8.name = "v", mlir_fp8.packed = array<i64: 48, 64, 1, 16, 1>}
// CHECK-SAME:    tensor<20x64xf32> {mlir_fp8.name = "t"}
// CHECK-SAME:    tensor<63x70xf32> {mlir_fp8.name = "odd"}
// CHECK-SAME:    tensor<64x64xf32> {mlir_fp8.name = "two"}
// CHECK-SAME:    tensor<2x64x70xf32> {mlir_fp8.name = "s"}
// CHECK:         %[[M:.*]] = stablehlo.transpose %[[W]], dims = [1, 0, 2] : (tensor<5x64x16xf32>) -> tensor<64x5x16xf32>
// CHECK:         %[[R:.*]] = stablehlo.reshape %[[M]] : (tensor<64x5x16xf32>) -> tensor<64x80xf32>
// CHECK:         %[[S:.*]] = stablehlo.slice %[[R]] [0:64, 0:70]
// CHECK:         stablehlo.dot_general %[[X]], %[[S]]
// CHECK:         stablehlo.transpose %[[V]], dims = [0, 2, 1] : (tensor<3x64x16xf8E5M2>) -> tensor<3x16x64xf8E5M2>
// CHECK:         stablehlo.reshape
// CHECK-NOT:     stablehlo.slice

// WHY: remark: weight 'w' is packed as 5x64x16
// WHY: remark: weight 'v' is packed as 3x64x16
// WHY: remark: weight 't' is not packed: it is read by stablehlo.gather
// WHY: remark: weight 'odd' is not packed: it has 63 summands, no multiple of 32
// WHY: remark: weight 'two' is not packed: it is read by products of several kinds
// WHY: remark: weight 's' is not packed: it is tensor<2x64x70xf32>, of rank 3, not 2

// PAIRS: tensor<2x32x32x2xf8E5M2> {mlir_fp8.name = "v", mlir_fp8.packed = array<i64: 48, 64, 1, 32, 2>}
// PAIRS: stablehlo.transpose %{{.*}}, dims = [0, 2, 1, 3] : (tensor<2x32x32x2xf8E5M2>) -> tensor<2x32x32x2xf8E5M2>
// PAIRS: stablehlo.reshape {{.*}} -> tensor<64x64xf8E5M2>
// PAIRS: stablehlo.slice {{.*}} [0:48, 0:64]
func.func @main(%x: tensor<4x64xf32> {mlir_fp8.name = "x"},
    %q: tensor<4x64xf8E4M3FN> {mlir_fp8.name = "q"},
    %w: tensor<64x70xf32> {mlir_fp8.name = "w"}, %v: tensor<48x64xf8E5M2> {mlir_fp8.name = "v"},
    %t: tensor<20x64xf32> {mlir_fp8.name = "t"}, %odd: tensor<63x70xf32> {mlir_fp8.name = "odd"},
    %two: tensor<64x64xf32> {mlir_fp8.name = "two"}, %s: tensor<2x64x70xf32> {mlir_fp8.name = "s"})
    -> (tensor<4x70xf32>, tensor<4x48xf32>, tensor<4x20xf32>, tensor<4x64xf32>,
        tensor<70x70xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x2x70xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x64xf32>, tensor<64x70xf32>) -> tensor<4x70xf32>
  %1 = stablehlo.dot_general %q, %v, contracting_dims = [1] x [1]
    : (tensor<4x64xf8E4M3FN>, tensor<48x64xf8E5M2>) -> tensor<4x48xf32>
  %2 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [1]
    : (tensor<4x64xf32>, tensor<20x64xf32>) -> tensor<4x20xf32>
  %at = stablehlo.constant dense<[[0], [5], [2], [1]]> : tensor<4x1xi32>
  %3 = "stablehlo.gather"(%t, %at) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 64>}> : (tensor<20x64xf32>, tensor<4x1xi32>) -> tensor<4x64xf32>
  %4 = stablehlo.dot_general %odd, %odd, contracting_dims = [0] x [0]
    : (tensor<63x70xf32>, tensor<63x70xf32>) -> tensor<70x70xf32>
  %5 = stablehlo.dot_general %x, %two, contracting_dims = [1] x [0]
    : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %6 = stablehlo.dot_general %x, %two, contracting_dims = [1] x [1]
    : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %7 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [1]
    : (tensor<4x64xf32>, tensor<2x64x70xf32>) -> tensor<4x2x70xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x70xf32>, tensor<4x48xf32>, tensor<4x20xf32>,
    tensor<4x64xf32>, tensor<70x70xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x2x70xf32>
}
