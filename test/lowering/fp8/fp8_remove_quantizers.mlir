// RUN: fp8-opt %s --fp8-remove-quantizers --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-remove-quantizers=remarks=true --split-input-file -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// As JAX writes it: a clip function, the scale rounded to bf16. The scale stays an argument.

// CHECK-LABEL: func.func @bf16_scale(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %{{.*}}: tensor<f32>)
// CHECK-NEXT:    %[[Y:.*]] = stablehlo.convert %[[X]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT:    return %[[Y]]
func.func @bf16_scale(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xbf16> {
  %low = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
  %high = stablehlo.constant dense<4.480000e+02> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.divide %x, %0 : tensor<4x8xf32>
  %2 = call @clip(%1, %low, %high) : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = stablehlo.convert %2 : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
  %4 = stablehlo.convert %3 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>
  %5 = stablehlo.convert %s : (tensor<f32>) -> tensor<bf16>
  %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
  %7 = stablehlo.multiply %4, %6 : tensor<4x8xbf16>
  return %7 : tensor<4x8xbf16>
}
func.func private @clip(%x: tensor<4x8xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.maximum %0, %x : tensor<4x8xf32>
  %2 = stablehlo.broadcast_in_dim %high, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %3 = stablehlo.minimum %2, %1 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// What else holds the f8 value is as it was; each dequantizer gets its own type.

// CHECK-LABEL: func.func @other_users(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<f32>)
// CHECK:         %[[SCALED:.*]] = stablehlo.divide %[[X]]
// CHECK:         %[[Q:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    %[[Y:.*]] = stablehlo.convert %[[X]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    return %[[X]], %[[Y]], %[[Q]]
func.func @other_users(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf16>, tensor<4xf8E4M3FN>) {
  %low = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
  %high = stablehlo.constant dense<4.480000e+02> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.divide %x, %0 : tensor<4xf32>
  %2 = stablehlo.clamp %low, %1, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %3 = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %4 = stablehlo.multiply %0, %3 : tensor<4xf32>
  %5 = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf16>
  %6 = stablehlo.convert %s : (tensor<f32>) -> tensor<f16>
  %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f16>) -> tensor<4xf16>
  %8 = stablehlo.multiply %5, %7 : tensor<4xf16>
  return %4, %8, %q : tensor<4xf32>, tensor<4xf16>, tensor<4xf8E4M3FN>
}

// -----

// Moves before the rounding, in f8, and after it; minimum inside of maximum; a slice of scales.

// CHECK-LABEL: func.func @moved(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %{{.*}}: tensor<8xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.slice %[[R]] [0:4] : (tensor<6xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[M:.*]] = stablehlo.reshape %[[S]] : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.convert %[[M]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[C]], dims = [1, 0] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
// CHECK-NEXT:    return %[[T]]
func.func @moved(%x: tensor<2x3xf32>, %scales: tensor<8xf32>) -> tensor<2x2xbf16> {
  %low = stablehlo.constant dense<-5.734400e+04> : tensor<6xf32>
  %high = stablehlo.constant dense<5.734400e+04> : tensor<6xf32>
  %s = stablehlo.slice %scales [3:4] : (tensor<8xf32>) -> tensor<1xf32>
  %0 = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %2 = stablehlo.divide %x, %1 : tensor<2x3xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x3xf32>) -> tensor<6xf32>
  %4 = stablehlo.minimum %3, %high : tensor<6xf32>
  %5 = stablehlo.maximum %4, %low : tensor<6xf32>
  %6 = stablehlo.convert %5 : (tensor<6xf32>) -> tensor<6xf8E5M2>
  %7 = stablehlo.slice %6 [0:4] : (tensor<6xf8E5M2>) -> tensor<4xf8E5M2>
  %8 = stablehlo.reshape %7 : (tensor<4xf8E5M2>) -> tensor<2x2xf8E5M2>
  %9 = stablehlo.convert %8 : (tensor<2x2xf8E5M2>) -> tensor<2x2xbf16>
  %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %11 = stablehlo.slice %scales [3:4] : (tensor<8xf32>) -> tensor<1xf32>
  %12 = stablehlo.reshape %11 : (tensor<1xf32>) -> tensor<f32>
  %13 = stablehlo.convert %12 : (tensor<f32>) -> tensor<bf16>
  %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<bf16>) -> tensor<2x2xbf16>
  %15 = stablehlo.multiply %10, %14 : tensor<2x2xbf16>
  return %15 : tensor<2x2xbf16>
}

// -----

// Multiplied by the reciprocal of what multiplies back; multiplied by what divides back.

// CHECK-LABEL: func.func @inverse(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<f32>)
// CHECK-NEXT:    return %[[X]], %[[X]]
func.func @inverse(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.divide %one, %s : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %4 = stablehlo.convert %3 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %5 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %6 = stablehlo.multiply %4, %5 : tensor<4xf32>
  %7 = stablehlo.multiply %5, %x : tensor<4xf32>
  %8 = stablehlo.convert %7 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %9 = stablehlo.convert %8 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %10 = stablehlo.divide %9, %5 : tensor<4xf32>
  return %6, %10 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant scale, which another pass has rounded to bf16; no scale; f4 with a scale per block.

// CHECK-LABEL: func.func @scales(
// CHECK-SAME:    %[[X:.*]]: tensor<2x64xf32>, %{{.*}}: tensor<2x2xf8E8M0FNU>)
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %[[X]] : (tensor<2x64xf32>) -> tensor<2x64xbf16>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<2x64xf32>) -> tensor<2x2x32xf32>
// CHECK-NEXT:    return %[[B]], %[[X]], %[[R]]
func.func @scales(%x: tensor<2x64xf32>, %s: tensor<2x2xf8E8M0FNU>) -> (tensor<2x64xbf16>, tensor<2x64xf32>, tensor<2x2x32xf32>) {
  %0 = stablehlo.constant dense<1.0e-4> : tensor<2x64xf32>
  %1 = stablehlo.divide %x, %0 : tensor<2x64xf32>
  %2 = stablehlo.convert %1 : (tensor<2x64xf32>) -> tensor<2x64xf8E5M2>
  %3 = stablehlo.convert %2 : (tensor<2x64xf8E5M2>) -> tensor<2x64xbf16>
  %4 = stablehlo.constant dense<1.0e-4> : tensor<2x64xbf16>
  %5 = stablehlo.multiply %3, %4 : tensor<2x64xbf16>
  %6 = stablehlo.convert %x : (tensor<2x64xf32>) -> tensor<2x64xf8E4M3FN>
  %7 = stablehlo.convert %6 : (tensor<2x64xf8E4M3FN>) -> tensor<2x64xf32>
  %8 = stablehlo.reshape %x : (tensor<2x64xf32>) -> tensor<2x2x32xf32>
  %9 = stablehlo.convert %s : (tensor<2x2xf8E8M0FNU>) -> tensor<2x2xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x32xf32>
  %11 = stablehlo.divide %8, %10 : tensor<2x2x32xf32>
  %12 = stablehlo.convert %11 : (tensor<2x2x32xf32>) -> tensor<2x2x32xf4E2M1FN>
  %13 = stablehlo.convert %12 : (tensor<2x2x32xf4E2M1FN>) -> tensor<2x2x32xf32>
  %14 = stablehlo.multiply %13, %10 : tensor<2x2x32xf32>
  return %5, %7, %14 : tensor<2x64xbf16>, tensor<2x64xf32>, tensor<2x2x32xf32>
}

// -----

// Another scale; the same scale the wrong way round.

// CHECK-LABEL: func.func @another_scale(
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.multiply
// CHECK-NEXT:    %[[B:.*]] = stablehlo.divide
// CHECK-NEXT:    return %[[A]], %[[B]]
// REMARK: :{{[0-9]+}}:8: remark: 'stablehlo.multiply' stays: it scales by another value than {{.*}}:8
// REMARK-NEXT: :{{[0-9]+}}:8: remark: 'stablehlo.divide' stays: it scales by another value than {{.*}}:8
func.func @another_scale(%x: tensor<4xf32>, %s: tensor<f32>, %t: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.divide %x, %0 : tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %4 = stablehlo.convert %3 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %5 = stablehlo.multiply %4, %1 : tensor<4xf32>
  %6 = stablehlo.divide %4, %0 : tensor<4xf32>
  return %5, %6 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @not_scaled_back(
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.add
// CHECK-NEXT:    stablehlo.multiply
// CHECK-NEXT:    return
// REMARK: :{{[0-9]+}}:8: remark: 'stablehlo.add' takes a quantized value that is not scaled back
// REMARK-NEXT: :{{[0-9]+}}:8: remark: 'stablehlo.multiply' takes a quantized value that is not scaled back
func.func @not_scaled_back(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.divide %x, %0 : tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %3 = stablehlo.convert %2 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %4 = stablehlo.add %3, %x : tensor<4xf32>
  %5 = stablehlo.multiply %3, %x : tensor<4xf32>
  return %4, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A clamp to other ends; a ReLU of a scaled value, which is no scaling of a ReLU.

// CHECK-LABEL: func.func @clamps(
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK:         stablehlo.maximum
// CHECK:         return
// REMARK: :{{[0-9]+}}:8: remark: 'stablehlo.convert' stays: its operand is clamped to 240, where f8E4M3FN ends at 448
func.func @clamps(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %low = stablehlo.constant dense<-240.0> : tensor<f32>
  %high = stablehlo.constant dense<240.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.divide %x, %0 : tensor<4xf32>
  %2 = stablehlo.clamp %low, %1, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %4 = stablehlo.convert %3 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %5 = stablehlo.multiply %4, %0 : tensor<4xf32>
  %6 = stablehlo.maximum %1, %zero : tensor<4xf32>
  %7 = stablehlo.convert %6 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %8 = stablehlo.convert %7 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %9 = stablehlo.multiply %8, %0 : tensor<4xf32>
  return %5, %9 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What no quantizer made; f8 rounded again; a scale per row, transposed between.

// CHECK-LABEL: func.func @no_pairs(
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK:         stablehlo.transpose %{{.*}} : (tensor<4x4xf8E5M2>) -> tensor<4x4xf8E5M2>
// CHECK:         return
// REMARK: remark: 'stablehlo.convert' stays: its operand comes from an argument
// REMARK-NEXT: remark: 'stablehlo.convert' stays: its operand is converted from f8E5M2
// REMARK-NEXT: remark: 'stablehlo.multiply' stays: its scale is not one number, and the data is moved
func.func @no_pairs(%q: tensor<4x8xf8E5M2>, %x: tensor<4x4xf32>, %s: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.convert %q : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
  %1 = stablehlo.convert %q : (tensor<4x8xf8E5M2>) -> tensor<4x8xf8E4M3FN>
  %2 = stablehlo.convert %1 : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.divide %x, %3 : tensor<4x4xf32>
  %5 = stablehlo.convert %4 : (tensor<4x4xf32>) -> tensor<4x4xf8E5M2>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x4xf8E5M2>) -> tensor<4x4xf8E5M2>
  %7 = stablehlo.convert %6 : (tensor<4x4xf8E5M2>) -> tensor<4x4xf32>
  %8 = stablehlo.multiply %7, %3 : tensor<4x4xf32>
  return %0, %2, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @dot(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
// CHECK-NEXT:    stablehlo.dot_general
// REMARK: :{{[0-9]+}}:8: remark: 'stablehlo.dot_general' takes f8E4M3FN
func.func @dot(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.convert %x : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The ops of the dialect, with each other and with StableHLO; a scale per block.

// CHECK-LABEL: func.func @dialect(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<4x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = stablehlo.convert %[[X]] : (tensor<4x64xf32>) -> tensor<4x64xbf16>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[X]], dims = [1, 0]
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.convert %[[T]] : (tensor<64x4xf32>) -> tensor<64x4xbf16>
// CHECK-NEXT:    return %[[Y]], %[[X]], %[[Z]]
func.func @dialect(%x: tensor<4x64xf32>, %s: tensor<f32>, %b: tensor<4x2xf8E8M0FNU>)
    -> (tensor<4x64xbf16>, tensor<4x64xf32>, tensor<64x4xbf16>) {
  %0 = "fp8.quantize"(%x, %b) {saturate} : (tensor<4x64xf32>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf4E2M1FN>
  %1 = "fp8.dequantize"(%0, %b) : (tensor<4x64xf4E2M1FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xbf16>
  %2 = "fp8.quantize"(%x, %s) {inverse, saturate} : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf8E4M3FN>
  %3 = stablehlo.convert %2 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %5 = stablehlo.divide %3, %4 : tensor<4x64xf32>
  %6 = stablehlo.divide %x, %4 : tensor<4x64xf32>
  %7 = "fp8.convert"(%6) {rounding = "nearest_even", saturate} : (tensor<4x64xf32>) -> tensor<4x64xf8E5M2>
  %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<4x64xf8E5M2>) -> tensor<64x4xf8E5M2>
  %9 = "fp8.dequantize"(%8, %s) : (tensor<64x4xf8E5M2>, tensor<f32>) -> tensor<64x4xbf16>
  return %1, %5, %9 : tensor<4x64xbf16>, tensor<4x64xf32>, tensor<64x4xbf16>
}

// -----

// Quantized by s, dequantized by 1 / s; blocks of a transposed or a reshaped tensor.

// CHECK-LABEL: func.func @dialect_pairs_of_other_scales(
// CHECK:         fp8.dequantize
// CHECK:         fp8.dequantize
// CHECK:         fp8.dequantize
// CHECK:         return
// REMARK: 'fp8.dequantize' stays: it scales by another value than
// REMARK-NEXT: 'fp8.dequantize' stays: its scale is not one number, and the data is moved before
// REMARK-NEXT: 'fp8.dequantize' stays: it scales by another value than
func.func @dialect_pairs_of_other_scales(%x: tensor<64x64xf32>, %s: tensor<f32>, %b: tensor<64x2xf32>)
    -> (tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<128x32xbf16>) {
  %0 = "fp8.quantize"(%x, %s) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf8E5M2>
  %1 = "fp8.dequantize"(%0, %s) {inverse} : (tensor<64x64xf8E5M2>, tensor<f32>) -> tensor<64x64xbf16>
  %2 = "fp8.quantize"(%x, %b) : (tensor<64x64xf32>, tensor<64x2xf32>) -> tensor<64x64xf8E5M2>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<64x64xf8E5M2>) -> tensor<64x64xf8E5M2>
  %4 = "fp8.dequantize"(%3, %b) : (tensor<64x64xf8E5M2>, tensor<64x2xf32>) -> tensor<64x64xbf16>
  %5 = stablehlo.reshape %2 : (tensor<64x64xf8E5M2>) -> tensor<128x32xf8E5M2>
  %6 = "fp8.dequantize"(%5, %b) : (tensor<128x32xf8E5M2>, tensor<64x2xf32>) -> tensor<128x32xbf16>
  return %1, %4, %6 : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<128x32xbf16>
}
