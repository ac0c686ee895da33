// RUN: fp8-opt %s --stablehlo-slice-before-transpose | filecheck %s

// q, k and v of one product, in halves of their tokens.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8x3x2xbf16>
// CHECK:         %[[Q:.*]] = stablehlo.slice %[[X]] [0:4, 0:8:2, 0:1, 0:2]
// CHECK-SAME:      -> tensor<4x4x1x2xbf16>
// CHECK:         %[[QT:.*]] = stablehlo.transpose %[[Q]], dims = [2, 0, 3, 1]
// CHECK-SAME:      -> tensor<1x4x2x4xbf16>
// CHECK:         %[[K:.*]] = stablehlo.slice %[[X]] [1:4, 0:8, 1:3, 1:2]
// CHECK-SAME:      -> tensor<3x8x2x1xbf16>
// CHECK:         %[[KT:.*]] = stablehlo.transpose %[[K]], dims = [2, 0, 3, 1]
// CHECK-SAME:      -> tensor<2x3x1x8xbf16>
// CHECK:         return %[[QT]], %[[KT]]
func.func @parts(%x: tensor<4x8x3x2xbf16>) -> (tensor<1x4x2x4xbf16>, tensor<2x3x1x8xbf16>) {
  %0 = stablehlo.transpose %x, dims = [2, 0, 3, 1] : (tensor<4x8x3x2xbf16>) -> tensor<3x4x2x8xbf16>
  %1 = stablehlo.slice %0 [0:1, 0:4, 0:2, 0:8:2] : (tensor<3x4x2x8xbf16>) -> tensor<1x4x2x4xbf16>
  %2 = stablehlo.slice %0 [1:3, 1:4, 1:2, 0:8] : (tensor<3x4x2x8xbf16>) -> tensor<2x3x1x8xbf16>
  return %1, %2 : tensor<1x4x2x4xbf16>, tensor<2x3x1x8xbf16>
}

// CHECK-LABEL: func.func @whole_is_used(
// CHECK:         stablehlo.transpose
// CHECK-NEXT:    stablehlo.slice
func.func @whole_is_used(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.slice %0 [0:2, 0:4] : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<2x4xf32>
}

// Both together would be more to transpose.
// CHECK-LABEL: func.func @overlapping(
// CHECK:         stablehlo.transpose
// CHECK-NEXT:    stablehlo.slice
func.func @overlapping(%x: tensor<4x8xf32>) -> (tensor<7x4xf32>, tensor<6x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.slice %0 [0:7, 0:4] : (tensor<8x4xf32>) -> tensor<7x4xf32>
  %2 = stablehlo.slice %0 [2:8, 0:4] : (tensor<8x4xf32>) -> tensor<6x4xf32>
  return %1, %2 : tensor<7x4xf32>, tensor<6x4xf32>
}
