// RUN: fp8-opt %s --stablehlo-unpack-to-calls | filecheck %s

// One function for each type, of which kernels take no notice.
// CHECK:       func.func private @mlir_fp8_unpack_4_1(%{{.*}}: tensor<4xui8>) -> tensor<8xf4E2M1FN>
// CHECK:       func.func private @mlir_fp8_unpack_6_0(%{{.*}}: tensor<6xui8>) -> tensor<8xf6E3M2FN>
// CHECK:         linalg.generic
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    call @mlir_fp8_unpack_6_0(%arg0)
// CHECK-NEXT:    call @mlir_fp8_unpack_4_1(%arg1)
// CHECK-NEXT:    call @mlir_fp8_unpack_4_1(%arg2)
func.func @main(%a: tensor<6xui8>, %b: tensor<4xui8>, %c: tensor<4xui8>)
    -> (tensor<8xf6E3M2FN>, tensor<8xf4E2M1FN>, tensor<8xf4E2M1FN>) {
  %0 = stablehlo.custom_call @mlir_fp8.unpack(%a) : (tensor<6xui8>) -> tensor<8xf6E3M2FN>
  %1 = stablehlo.custom_call @mlir_fp8.unpack(%b) : (tensor<4xui8>) -> tensor<8xf4E2M1FN>
  %2 = stablehlo.custom_call @mlir_fp8.unpack(%c) : (tensor<4xui8>) -> tensor<8xf4E2M1FN>
  return %0, %1, %2 : tensor<8xf6E3M2FN>, tensor<8xf4E2M1FN>, tensor<8xf4E2M1FN>
}
