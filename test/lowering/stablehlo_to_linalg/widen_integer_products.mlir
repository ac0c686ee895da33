// RUN: fp8-opt %s --widen-integer-products --split-input-file | filecheck %s

// Unsigned operands extend by zeros, because stablehlo.convert sees their type.

// CHECK-LABEL: func.func @dot(
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %arg1 : (tensor<8x2xi8>) -> tensor<8x2xi32>
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] : (tensor<4x8xi32>, tensor<8x2xi32>) -> tensor<4x2xi32>
// CHECK-NEXT:    return %[[DOT]]
func.func @dot(%a: tensor<4x8xui8>, %b: tensor<8x2xi8>) -> tensor<4x2xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xui8>, tensor<8x2xi8>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// -----

// CHECK-LABEL: func.func @to_float(
// CHECK-NEXT:    stablehlo.convert %arg0 : (tensor<3xui8>) -> tensor<3xf32>
// CHECK-NEXT:    stablehlo.dot %{{.*}}, %arg1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @to_float(%a: tensor<3xui8>, %b: tensor<3xf32>) -> tensor<f32> {
  %0 = stablehlo.dot %a, %b : (tensor<3xui8>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT:    stablehlo.convert %arg0 : (tensor<1x4x1xui8>) -> tensor<1x4x1xui32>
// CHECK-NEXT:    stablehlo.convert %arg1 : (tensor<2x1x1xui8>) -> tensor<2x1x1xui32>
// CHECK-NEXT:    stablehlo.convolution{{.*}} : (tensor<1x4x1xui32>, tensor<2x1x1xui32>) -> tensor<1x3x1xui32>
// CHECK-NEXT:    return
func.func @convolution(%a: tensor<1x4x1xui8>, %k: tensor<2x1x1xui8>) -> tensor<1x3x1xui32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xui8>, tensor<2x1x1xui8>) -> tensor<1x3x1xui32>
  return %0 : tensor<1x3x1xui32>
}

// -----

// CHECK-LABEL: func.func @of_one_type(
// CHECK-NEXT:    stablehlo.dot %arg0, %arg0 : (tensor<3xui8>, tensor<3xui8>) -> tensor<ui8>
// CHECK-NEXT:    return
func.func @of_one_type(%a: tensor<3xui8>) -> tensor<ui8> {
  %0 = stablehlo.dot %a, %a : (tensor<3xui8>, tensor<3xui8>) -> tensor<ui8>
  return %0 : tensor<ui8>
}

// -----

// CHECK-LABEL: func.func @floats(
// CHECK-NEXT:    stablehlo.dot %arg0, %arg0 : (tensor<3xf8E5M2>, tensor<3xf8E5M2>) -> tensor<f32>
// CHECK-NEXT:    return
func.func @floats(%a: tensor<3xf8E5M2>) -> tensor<f32> {
  %0 = stablehlo.dot %a, %a : (tensor<3xf8E5M2>, tensor<3xf8E5M2>) -> tensor<f32>
  return %0 : tensor<f32>
}
