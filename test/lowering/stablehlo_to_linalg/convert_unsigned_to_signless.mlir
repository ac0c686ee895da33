// RUN: fp8-opt %s --stablehlo-legalize-to-linalg --convert-unsigned-to-signless --canonicalize --split-input-file | filecheck %s

// The ops know that the integers were unsigned; the types no longer say so.

// CHECK-LABEL: func.func @divide(
// CHECK-SAME:    %arg0: tensor<4xi8>, %arg1: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi1>)
// CHECK-NOT:     unrealized_conversion_cast
// CHECK-NOT:     ui8
// CHECK:         arith.divui
// CHECK:         arith.cmpi ult
func.func @divide(%a: tensor<4xui8>, %b: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
  %0 = stablehlo.divide %a, %b : tensor<4xui8>
  %1 = stablehlo.compare LT, %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return %0, %1 : tensor<4xui8>, tensor<4xi1>
}

// -----

// Both types of one width in one module.

// CHECK-LABEL: func.func @mixed(
// CHECK-SAME:    %arg0: tensor<4xi64>, %arg1: tensor<4xi64>) -> (tensor<4xf64>, tensor<4xf64>)
// CHECK:         arith.uitofp
// CHECK:         arith.sitofp
func.func @mixed(%a: tensor<4xui64>, %b: tensor<4xi64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = stablehlo.convert %a : (tensor<4xui64>) -> tensor<4xf64>
  %1 = stablehlo.convert %b : (tensor<4xi64>) -> tensor<4xf64>
  return %0, %1 : tensor<4xf64>, tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @calls(
// CHECK-NEXT:    call @constant() : () -> tensor<2xi32>
// CHECK:         func.func private @constant() -> tensor<2xi32>
// CHECK-NEXT:    arith.constant dense<[7, -1]> : tensor<2xi32>
func.func @calls() -> tensor<2xui32> {
  %0 = func.call @constant() : () -> tensor<2xui32>
  return %0 : tensor<2xui32>
}
func.func private @constant() -> tensor<2xui32> {
  %0 = stablehlo.constant dense<[7, 4294967295]> : tensor<2xui32>
  return %0 : tensor<2xui32>
}
