// RUN: fp8-opt %s --stablehlo-expand-custom-calls --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @annotation
// CHECK-NEXT: return %arg0
func.func @annotation(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{replicated}"}
    : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @function
// CHECK-NEXT: chlo.erf
func.func @function(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64}
    : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @unknown(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' calls 'lapack_sgeqrf_ffi', which nobody has told the meaning of: give it one with mlir_fp8.register_custom_call}}
  %0 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
