// RUN: fp8-opt %s --fp8-keep-packed | filecheck %s

// CHECK-LABEL: func.func @held(
// CHECK-NEXT:    stablehlo.custom_call @mlir_fp8.unpack(%arg0) : (tensor<3x6xui8>) -> tensor<3x8xf6E2M3FN>
func.func @held(%a: tensor<3x6xui8>) -> tensor<3x8xf6E2M3FN> {
  %0 = "fp8.unpack"(%a) : (tensor<3x6xui8>) -> tensor<3x8xf6E2M3FN>
  return %0 : tensor<3x8xf6E2M3FN>
}

// CHECK-LABEL: func.func @of_stablehlo(
// CHECK:         stablehlo.custom_call @mlir_fp8.unpack({{.*}}) : (tensor<3x4xui8>) -> tensor<3x8xf4E2M1FN>
func.func @of_stablehlo(%a: tensor<3x4xi8>) -> tensor<3x8xf4E2M1FN> {
  %0 = stablehlo.bitcast_convert %a : (tensor<3x4xi8>) -> tensor<3x4x2xf4E2M1FN>
  %1 = stablehlo.reshape %0 : (tensor<3x4x2xf4E2M1FN>) -> tensor<3x8xf4E2M1FN>
  return %1 : tensor<3x8xf4E2M1FN>
}

// What is computed is not held by anyone.
// CHECK-LABEL: func.func @computed(
// CHECK:         fp8.unpack
func.func @computed(%a: tensor<3x4xui8>) -> tensor<3x8xf4E2M1FN> {
  %0 = stablehlo.add %a, %a : tensor<3x4xui8>
  %1 = "fp8.unpack"(%0) : (tensor<3x4xui8>) -> tensor<3x8xf4E2M1FN>
  return %1 : tensor<3x8xf4E2M1FN>
}

// Another reshape puts no pairs side by side.
// CHECK-LABEL: func.func @otherwise(
// CHECK-NEXT:    stablehlo.bitcast_convert
func.func @otherwise(%a: tensor<3x4xui8>) -> tensor<24xf4E2M1FN> {
  %0 = stablehlo.bitcast_convert %a : (tensor<3x4xui8>) -> tensor<3x4x2xf4E2M1FN>
  %1 = stablehlo.reshape %0 : (tensor<3x4x2xf4E2M1FN>) -> tensor<24xf4E2M1FN>
  return %1 : tensor<24xf4E2M1FN>
}
