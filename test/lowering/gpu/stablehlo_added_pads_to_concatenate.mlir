// RUN: fp8-opt %s --stablehlo-added-pads-to-concatenate --canonicalize | filecheck %s

// CHECK-LABEL: func.func @three(
// CHECK-SAME:    %[[A:.*]]: tensor<2x4xbf16>, %[[B:.*]]: tensor<1x4xbf16>, %[[C:.*]]: tensor<3x4xbf16>
// CHECK-DAG:     %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<6x4xbf16>
// CHECK-DAG:     %[[ALL:.*]] = stablehlo.concatenate %[[C]], %[[B]], %[[A]], dim = 0
// CHECK:         %[[SUM:.*]] = stablehlo.add %[[ALL]], %[[ZERO]]
// CHECK-NEXT:    return %[[SUM]]
func.func @three(%a: tensor<2x4xbf16>, %b: tensor<1x4xbf16>, %c: tensor<3x4xbf16>) -> tensor<6x4xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.pad %a, %zero, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<6x4xbf16>
  %1 = stablehlo.pad %b, %zero, low = [3, 0], high = [2, 0], interior = [0, 0] : (tensor<1x4xbf16>, tensor<bf16>) -> tensor<6x4xbf16>
  %2 = stablehlo.add %0, %1 : tensor<6x4xbf16>
  %3 = stablehlo.pad %c, %zero, low = [0, 0], high = [3, 0], interior = [0, 0] : (tensor<3x4xbf16>, tensor<bf16>) -> tensor<6x4xbf16>
  %4 = stablehlo.add %2, %3 : tensor<6x4xbf16>
  return %4 : tensor<6x4xbf16>
}

// CHECK-LABEL: func.func @overlapping(
// CHECK-NOT:     stablehlo.concatenate
func.func @overlapping(%a: tensor<3x4xf32>, %b: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %b, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// Rows in front of both are zeros.
// CHECK-LABEL: func.func @gap(
// CHECK-NOT:     stablehlo.concatenate
func.func @gap(%a: tensor<1x4xf32>, %b: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %b, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @two_dimensions(
// CHECK-NOT:     stablehlo.concatenate
func.func @two_dimensions(%a: tensor<2x4xf32>, %b: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %b, %zero, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @other_padding(
// CHECK-NOT:     stablehlo.concatenate
func.func @other_padding(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<-0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %b, %one, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A term that is used elsewhere is there anyway.
// CHECK-LABEL: func.func @used_elsewhere(
// CHECK-NOT:     stablehlo.concatenate
func.func @used_elsewhere(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %zero, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.pad %b, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @integers(
// CHECK-NOT:     stablehlo.concatenate
func.func @integers(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<4xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %a, %zero, low = [0], high = [2], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = stablehlo.pad %b, %zero, low = [2], high = [0], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = stablehlo.add %0, %1 : tensor<4xi32>
  return %2 : tensor<4xi32>
}
