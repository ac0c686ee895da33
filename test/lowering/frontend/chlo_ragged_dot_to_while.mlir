// RUN: fp8-opt %s --chlo-ragged-dot-to-while --split-input-file | filecheck %s

// A tile of each size below 40 rows, and of 40; the group's matrix is a slice of what was transposed.
// CHECK-LABEL: func.func @rows(
// CHECK:         stablehlo.while
// CHECK:           "stablehlo.case"
// CHECK:             stablehlo.dynamic_slice %arg0, {{.*}} sizes = [8, 16]
// CHECK:             stablehlo.dynamic_slice %arg1, {{.*}} sizes = [1, 24, 16]
// CHECK:             stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : (tensor<8x16xf8E4M3FN>, tensor<24x16xf8E5M2>) -> tensor<8x24xf32>
// CHECK:             stablehlo.dot_general {{.*}} (tensor<32x16xf8E4M3FN>,
// CHECK:             stablehlo.dot_general {{.*}} (tensor<40x16xf8E4M3FN>,
// CHECK-NOT:         stablehlo.dot_general
func.func @rows(%a: tensor<40x16xf8E4M3FN>, %b: tensor<4x24x16xf8E5M2>, %s: tensor<4xi64>) -> tensor<40x24xf32> {
  %0 = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<4x24x16xf8E5M2>) -> tensor<4x16x24xf8E5M2>
  %1 = "chlo.ragged_dot"(%a, %0, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<40x16xf8E4M3FN>, tensor<4x16x24xf8E5M2>, tensor<4xi64>) -> tensor<40x24xf32>
  return %1 : tensor<40x24xf32>
}

// -----

// Sums over tiles are in f32.
// CHECK-LABEL: func.func @sums(
// CHECK:         %[[LOOP:.*]]:4 = stablehlo.while({{.*}}) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x16x24xf32>
// CHECK:         stablehlo.convert %[[LOOP]]#3 : (tensor<3x16x24xf32>) -> tensor<3x16x24xbf16>
func.func @sums(%a: tensor<16x5xbf16>, %b: tensor<5x24xbf16>, %s: tensor<3xi32>) -> tensor<3x16x24xbf16> {
  %0 = "chlo.ragged_dot"(%a, %b, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>} : (tensor<16x5xbf16>, tensor<5x24xbf16>, tensor<3xi32>) -> tensor<3x16x24xbf16>
  return %0 : tensor<3x16x24xbf16>
}

// -----

// CHECK-LABEL: func.func @batches(
// CHECK-NEXT:    chlo.ragged_dot
func.func @batches(%a: tensor<3x4x7xf32>, %b: tensor<3x7x5xf32>, %s: tensor<3xi64>) -> tensor<3x4x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>} : (tensor<3x4x7xf32>, tensor<3x7x5xf32>, tensor<3xi64>) -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}

// -----

// Codes are decoded in each tile: what makes a wide copy of all experts is dead.
// CHECK-LABEL: func.func @codes(
// CHECK:         stablehlo.while
// CHECK:             stablehlo.dynamic_slice %arg0, {{.*}} -> tensor<8x16xf32>
// CHECK:             stablehlo.dynamic_slice %arg1, {{.*}} -> tensor<1x24x16xf8E4M3FN>
// CHECK:             stablehlo.convert {{.*}} : (tensor<24x16xf8E4M3FN>) -> tensor<24x16xf32>
// CHECK:             stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<24x16xf32>) -> tensor<8x24xf32>
func.func @codes(%a: tensor<8x16xf32>, %b: tensor<4x24x16xf8E4M3FN>, %s: tensor<4xi64>) -> tensor<8x24xf32> {
  %0 = stablehlo.convert %b : (tensor<4x24x16xf8E4M3FN>) -> tensor<4x24x16xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<4x24x16xf32>) -> tensor<4x16x24xf32>
  %2 = "chlo.ragged_dot"(%a, %1, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<8x16xf32>, tensor<4x16x24xf32>, tensor<4xi64>) -> tensor<8x24xf32>
  return %2 : tensor<8x24xf32>
}

// -----

// CHECK-LABEL: func.func @sums_of_codes(
// CHECK:             stablehlo.dynamic_slice %arg1, {{.*}} -> tensor<5x24xf8E5M2>
// CHECK:             stablehlo.convert {{.*}} : (tensor<5x24xf8E5M2>) -> tensor<5x24xbf16>
// CHECK:             stablehlo.select {{.*}} : tensor<5x24xi1>, tensor<5x24xbf16>
func.func @sums_of_codes(%a: tensor<16x5xbf16>, %b: tensor<5x24xf8E5M2>, %s: tensor<3xi32>) -> tensor<3x16x24xf32> {
  %0 = stablehlo.convert %b : (tensor<5x24xf8E5M2>) -> tensor<5x24xbf16>
  %1 = "chlo.ragged_dot"(%a, %0, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>} : (tensor<16x5xbf16>, tensor<5x24xbf16>, tensor<3xi32>) -> tensor<3x16x24xf32>
  return %1 : tensor<3x16x24xf32>
}
