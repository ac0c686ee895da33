// RUN: fp8-opt %s --fp8-from-quantized-types --split-input-file --verify-diagnostics | FileCheck %s

!x = !quant.uniform<i8:f32, 0.5>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25}>
!sum = !quant.uniform<i32:f32:1, {0.25, 0.125}>
// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %arg0: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01>>
// CHECK: %[[X:.*]] = stablehlo.uniform_dequantize %arg0
// CHECK: %[[A:.*]] = "fp8.quantize"(%[[X]], {{.*}}) {saturate} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf8E4M3FN>
// CHECK: %[[B:.*]] = stablehlo.constant dense<{{.*}}4.480000e+02{{.*}}> : tensor<4x2xf8E4M3FN>
// CHECK: %[[D:.*]] = "fp8.scaled_dot"(%[[A]], %[[B]], {{.*}}) {{.*}} -> tensor<2x2xf32>
// CHECK: return %[[D]] : tensor<2x2xf32>
func.func @dot(%x: tensor<2x4x!x>) -> tensor<2x2xf32> {
  %w = "stablehlo.constant"() {value = dense<[[1, 2], [3, 4], [127, -127], [0, 8]]> : tensor<4x2xi8>} : () -> tensor<4x2x!w>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4x!x>, tensor<4x2x!w>) -> tensor<2x2x!sum>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x2x!sum>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

!q = !quant.uniform<u8:f32, 0.5:2>
// CHECK-LABEL: func.func private @moved(
// CHECK-SAME: %arg0: tensor<2x4xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
// CHECK-NEXT: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x4xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
func.func private @moved(%x: tensor<2x4x!q>) -> tensor<4x2x!q> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x4x!q>) -> tensor<4x2x!q>
  return %0 : tensor<4x2x!q>
}

// A result clamps as its storage does, from (0 - 2) * 0.5 to (255 - 2) * 0.5.
// CHECK-LABEL: func.func @clamped(
// CHECK: stablehlo.constant dense<-1.000000e+00>
// CHECK: stablehlo.constant dense<1.265000e+02>
// CHECK: stablehlo.clamp
// CHECK: "fp8.quantize"
func.func @clamped(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!q>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!q>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

func.func @storage(%x: tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xi8> {
  // expected-error@+1 {{'stablehlo.bitcast_convert' reads what is stored, which FP8 stores otherwise: dequantize before it}}
  %0 = stablehlo.bitcast_convert %x : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}
