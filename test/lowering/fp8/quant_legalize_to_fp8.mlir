// RUN: fp8-opt %s --quant-legalize-to-fp8 --split-input-file --verify-diagnostics | FileCheck %s

!q = !quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>
// CHECK-LABEL: func.func @casts(
// CHECK: %[[Q:.*]] = "fp8.uniform_quantize"(%arg0) {type = !quant.uniform<i8:f32:{0:2}, {{.*}}>} : (tensor<4x1xf32>) -> tensor<4x1xi8>
// CHECK-NEXT: %[[C:.*]] = builtin.unrealized_conversion_cast %[[Q]] : tensor<4x1xi8> to tensor<4x1x!quant
// CHECK-NEXT: %[[S:.*]] = builtin.unrealized_conversion_cast %[[C]] : tensor<4x1x!quant{{.*}} to tensor<4x1xi8>
// CHECK-NEXT: "fp8.uniform_dequantize"(%[[S]]) {type = !quant.uniform<i8:f32:{0:2}, {{.*}}>} : (tensor<4x1xi8>) -> tensor<4x1xf32>
func.func @casts(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = quant.qcast %x : tensor<4x1xf32> to tensor<4x1x!q>
  %1 = quant.dcast %0 : tensor<4x1x!q> to tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

func.func @scalar(%x: f32) -> !quant.uniform<i8:f32, 0.5> {
  // expected-error@+1 {{'quant.qcast' from f32 to !quant.uniform<i8:f32, 5.000000e-01>: only ranked tensors are compiled}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 0.5>
  return %0 : !quant.uniform<i8:f32, 0.5>
}

// -----

func.func @unknown_scale(%x: tensor<4xf32>) -> tensor<4x!quant.any<i8:f32>> {
  // expected-error@+1 {{'quant.qcast' is of !quant.any<i8:f32>: only quantization by known scales is compiled}}
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x!quant.any<i8:f32>>
  return %0 : tensor<4x!quant.any<i8:f32>>
}
