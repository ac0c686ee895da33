// RUN: fp8-opt %s --boolean-add-to-or | FileCheck %s

// CHECK-LABEL: func.func @booleans(
// CHECK-NEXT: %[[EITHER:.*]] = stablehlo.or %arg0, %arg1 : tensor<3xi1>
// CHECK: applies stablehlo.or across dimensions = [0]
func.func @booleans(%a: tensor<3xi1>, %b: tensor<3xi1>, %z: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.add %a, %b : tensor<3xi1>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: func.func @kept(
// CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<3xi8>
func.func @kept(%a: tensor<3xi8>) -> tensor<3xi8> {
  %0 = stablehlo.add %a, %a : tensor<3xi8>
  return %0 : tensor<3xi8>
}
