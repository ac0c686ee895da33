// RUN: fp8-opt %s --simplify-fp-conversions --split-input-file | filecheck %s
// RUN: fp8-opt %s --float-normalization --simplify-fp-conversions --split-input-file | filecheck %s --check-prefix=AFTER
// RUN: fp8-opt %s --simplify-fp-conversions=formats=f8E4M3FN --split-input-file | filecheck %s --check-prefix=F8

// CHECK-LABEL: func.func @pair(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[A]] : tensor<4xf32>
// F8-LABEL:    func.func @pair(
// F8:            stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @pair(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @to_another_type(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf64>)
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %[[A]] : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[B]] : tensor<4xf32>
func.func @to_another_type(%a: tensor<4xf64>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf64>) -> tensor<4xf16>
  %1 = stablehlo.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @fake_quantization(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// F8-LABEL:    func.func @fake_quantization(
// F8-SAME:       %[[A:.*]]: tensor<4xf32>)
// F8-NEXT:       return %[[A]]
func.func @fake_quantization(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// One rounding, to f8, where there were two.

// CHECK-LABEL: func.func @through_bf16_to_f8(
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xf8E5M2>
// CHECK-NEXT:    return %[[Q]]
func.func @through_bf16_to_f8(%a: tensor<4xf32>) -> tensor<4xf8E5M2> {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf8E5M2>
  return %1 : tensor<4xf8E5M2>
}

// -----

// What else holds the narrow value is rounded as before.

// CHECK-LABEL: func.func @moved(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    %[[ROUNDED:.*]] = stablehlo.convert %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[A]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[T]] : (tensor<3x2xf32>) -> tensor<6xf32>
// CHECK-NEXT:    return %[[R]], %[[ROUNDED]] : tensor<6xf32>, tensor<2x3xbf16>
func.func @moved(%a: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xbf16>) {
  %0 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  %2 = stablehlo.reshape %1 : (tensor<3x2xbf16>) -> tensor<6xbf16>
  %3 = stablehlo.convert %2 : (tensor<6xbf16>) -> tensor<6xf32>
  return %3, %0 : tensor<6xf32>, tensor<2x3xbf16>
}

// -----

// Arithmetic in bf16 becomes arithmetic in f32 between arguments and results.

// AFTER-LABEL: func.func @arithmetic(
// AFTER-SAME:    %[[A:.*]]: tensor<4xbf16>)
// AFTER-NEXT:    %[[A32:.*]] = stablehlo.convert %[[A]] : (tensor<4xbf16>) -> tensor<4xf32>
// AFTER-NEXT:    %[[SUM:.*]] = stablehlo.add %[[A32]], %[[A32]] : tensor<4xf32>
// AFTER-NEXT:    %[[B32:.*]] = stablehlo.convert %[[A]] : (tensor<4xbf16>) -> tensor<4xf32>
// AFTER-NEXT:    %[[PRODUCT:.*]] = stablehlo.multiply %[[SUM]], %[[B32]] : tensor<4xf32>
// AFTER-NEXT:    %[[ROUNDED:.*]] = stablehlo.convert %[[PRODUCT]] : (tensor<4xf32>) -> tensor<4xbf16>
// AFTER-NEXT:    return %[[ROUNDED]]
func.func @arithmetic(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.add %a, %a : tensor<4xbf16>
  %1 = stablehlo.multiply %0, %a : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @algorithm(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.reduce_precision
// CHECK-NEXT:    return
func.func @algorithm(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.convert %a {mlir_fp8.algorithm_rounding} : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.reduce_precision %a, format = e8m7 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
