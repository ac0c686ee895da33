// RUN: fp8-opt %s --stablehlo-power-to-linalg --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @signed(
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4xi16>, tensor<4xi16>)
// CHECK: arith.cmpi slt
// CHECK: scf.while
func.func @signed(%arg0: tensor<4xi16>, %arg1: tensor<4xi16>) -> tensor<4xi16> {
  %0 = stablehlo.power %arg0, %arg1 : tensor<4xi16>
  return %0 : tensor<4xi16>
}

// -----

// CHECK-LABEL: func.func @unsigned(
// CHECK: unrealized_conversion_cast %arg0 : tensor<ui8> to tensor<i8>
// CHECK-NOT: arith.cmpi slt
// CHECK: scf.while
func.func @unsigned(%arg0: tensor<ui8>) -> tensor<ui8> {
  %0 = stablehlo.power %arg0, %arg0 : tensor<ui8>
  return %0 : tensor<ui8>
}

// -----

// CHECK-LABEL: func.func @floats_are_left(
// CHECK: stablehlo.power
func.func @floats_are_left(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.power %arg0, %arg0 : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @in_a_reduction(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.reduce"(%arg0, %arg1) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    // expected-error@+1 {{'stablehlo.power' of integers in the body of stablehlo.reduce has no lowering: multiply there}}
    %1 = stablehlo.power %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
