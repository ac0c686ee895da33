// RUN: fp8-opt %s --stablehlo-convolution-to-dot --split-input-file | filecheck %s

// A slice for each of four elements of a window.
// CHECK-LABEL: func.func @windows(
// CHECK:         stablehlo.pad
// CHECK-COUNT-4: stablehlo.slice
// CHECK:         stablehlo.concatenate
// CHECK:         stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : (tensor<32x128xf8E4M3FN>, tensor<2x128x64xf8E4M3FN>) -> tensor<32x2x64xf32>
// CHECK-NOT:     stablehlo.convolution
func.func @windows(%a: tensor<2x32x8x8xf8E4M3FN>, %b: tensor<32x32x2x2xf8E4M3FN>) -> tensor<2x32x8x8xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 1], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x8x8xf8E4M3FN>, tensor<32x32x2x2xf8E4M3FN>) -> tensor<2x32x8x8xf32>
  return %0 : tensor<2x32x8x8xf32>
}

// -----

// The gradient of a filter of patches, and that of the image.
// CHECK-LABEL: func.func @patches(
// CHECK:         stablehlo.transpose
// CHECK:         stablehlo.dot_general
// CHECK:         stablehlo.reverse
// CHECK:         stablehlo.dot_general
// CHECK-NOT:     stablehlo.convolution
func.func @patches(%image: tensor<3x1x64x64xf32>, %gradient: tensor<64x1x8x8xf32>, %g: tensor<1x64x8x8xf32>, %filter: tensor<3x64x8x8xf32>) -> (tensor<3x64x8x8xf32>, tensor<1x3x64x64xf32>) {
  %0 = stablehlo.convolution(%image, %gradient) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [8, 8]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x1x64x64xf32>, tensor<64x1x8x8xf32>) -> tensor<3x64x8x8xf32>
  %1 = stablehlo.convolution(%g, %filter) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[7, 7], [7, 7]], lhs_dilate = [8, 8]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<3x64x8x8xf32>) -> tensor<1x3x64x64xf32>
  return %0, %1 : tensor<3x64x8x8xf32>, tensor<1x3x64x64xf32>
}

// -----

// Contiguous channels, groups, few channels, and what is small.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: stablehlo.convolution
func.func @others(%a: tensor<2x16x16x32xf32>, %b: tensor<3x3x32x32xf32>, %c: tensor<2x64x16x16xf32>, %d: tensor<32x32x3x3xf32>, %e: tensor<2x3x32x32xf32>, %f: tensor<64x3x3x3xf32>, %g: tensor<1x32x2x2xf32>, %h: tensor<32x32x2x2xf32>) -> (tensor<2x14x14x32xf32>, tensor<2x32x14x14xf32>, tensor<2x64x30x30xf32>, tensor<1x32x1x1xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x32xf32>, tensor<3x3x32x32xf32>) -> tensor<2x14x14x32xf32>
  %1 = stablehlo.convolution(%c, %d) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x64x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x14x14xf32>
  %2 = stablehlo.convolution(%e, %f) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x32x32xf32>, tensor<64x3x3x3xf32>) -> tensor<2x64x30x30xf32>
  %3 = stablehlo.convolution(%g, %h) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x2x2xf32>, tensor<32x32x2x2xf32>) -> tensor<1x32x1x1xf32>
  return %0, %1, %2, %3 : tensor<2x14x14x32xf32>, tensor<2x32x14x14xf32>, tensor<2x64x30x30xf32>, tensor<1x32x1x1xf32>
}
