// RUN: fp8-opt %s --stablehlo-legalize-quantized-ops --split-input-file --verify-diagnostics | FileCheck %s

!q = !quant.uniform<i8:f32, 0.5:3>
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %arg0: tensor<2xi8>, %arg1: tensor<2xi8>) -> tensor<2xi8>
// CHECK: stablehlo.convert %arg0 : (tensor<2xi8>) -> tensor<2xi32>
// CHECK: stablehlo.subtract {{.*}} : tensor<2xi32>
// CHECK: stablehlo.multiply {{.*}} : tensor<2xf32>
// CHECK: stablehlo.add {{.*}} : tensor<2xf32>
// CHECK: stablehlo.divide
// CHECK: stablehlo.clamp
// CHECK: stablehlo.round_nearest_even
// CHECK: stablehlo.convert {{.*}} : (tensor<2xf32>) -> tensor<2xi8>
func.func @add(%arg0: tensor<2x!q>, %arg1: tensor<2x!q>) -> tensor<2x!q> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<2x!q>
  return %0 : tensor<2x!q>
}

// -----

!q = !quant.uniform<u8:f32:0, {0.5:3, 0.25}>
// CHECK-LABEL: func.func @moves(
// CHECK-SAME: %arg0: tensor<2x3xui8>) -> tensor<3x2xui8>
// CHECK-NEXT: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xui8>) -> tensor<3x2xui8>
func.func @moves(%arg0: tensor<2x3x!q>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3x!q>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>
  return %0 : tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3, 0.25}>>
}

// -----

// CHECK-LABEL: func.func @constant(
// CHECK: %[[BITS:.*]] = stablehlo.constant dense<[1, -20]> : tensor<2xi8>
// CHECK: stablehlo.bitcast_convert %[[BITS]] : (tensor<2xi8>) -> tensor<2xui8>
func.func @constant() -> tensor<2x!quant.uniform<u8:f32, 0.5:3>> {
  %0 = "stablehlo.constant"() {value = dense<[1, -20]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5:3>>
  return %0 : tensor<2x!quant.uniform<u8:f32, 0.5:3>>
}

// -----

func.func private @unknown_scale(%arg0: tensor<2x!quant.any<i8:f32>>) -> tensor<2x!quant.any<i8:f32>> {
  // expected-error@+1 {{'func.return' is of !quant.any<i8:f32>: only quantization by known scales is compiled}}
  return %arg0 : tensor<2x!quant.any<i8:f32>>
}

// -----

func.func @out_of_range(%arg0: tensor<2xf8E4M3FN>) -> tensor<2x!quant.uniform<i16:f8E4M3FN, 0.5>> {
  // expected-error@+1 {{whose storage goes beyond the expressed type's range}}
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2x!quant.uniform<i16:f8E4M3FN, 0.5>>
  return %0 : tensor<2x!quant.uniform<i16:f8E4M3FN, 0.5>>
}
