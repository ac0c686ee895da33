// RUN: fp8-opt %s --stablehlo-fold-empty | FileCheck %s

// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %arg0: tensor<0x3xf32>, %arg1: tensor<f32>)
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: return %0
func.func @empty(%arg0: tensor<0x3xf32>, %arg1: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @kept(
// CHECK: stablehlo.reduce
func.func @kept(%arg0: tensor<1x3xf32>, %arg1: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: %[[NOTHING:.*]] = stablehlo.constant dense<> : tensor<0xf8E4M3FN>
// CHECK-NEXT: return %[[NOTHING]]
func.func @slice(%arg0: tensor<3xf8E4M3FN>) -> tensor<0xf8E4M3FN> {
  %0 = stablehlo.slice %arg0 [3:3] : (tensor<3xf8E4M3FN>) -> tensor<0xf8E4M3FN>
  return %0 : tensor<0xf8E4M3FN>
}

// CHECK-LABEL: func.func @side_effect(
// CHECK: stablehlo.custom_call
func.func @side_effect(%arg0: tensor<3xf32>) -> tensor<0xf32> {
  %0 = stablehlo.custom_call @log(%arg0) : (tensor<3xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f8E4M3FN>) -> tensor<1x3xf8E4M3FN>
// CHECK-NEXT: return %0
func.func @pad(%arg0: tensor<0x3xf8E4M3FN>, %arg1: tensor<f8E4M3FN>) -> tensor<1x3xf8E4M3FN> {
  %0 = stablehlo.pad %arg0, %arg1, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<0x3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<1x3xf8E4M3FN>
  return %0 : tensor<1x3xf8E4M3FN>
}
