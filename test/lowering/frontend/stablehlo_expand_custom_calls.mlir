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

// LAPACK has a pass of its own.
// CHECK-LABEL: func.func @lapack
// CHECK-NEXT: stablehlo.custom_call @lapack_sgeqrf_ffi
func.func @lapack(%a: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>) {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}}
    : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<2xf32>
}

// -----

// Nobody else has the comparator. The greater of two f32 is XLA's total order.
// CHECK-NOT: func.func @greater
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
// CHECK-LABEL: func.func @approximate
// CHECK: "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}>
// CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
// CHECK: stablehlo.slice %{{.*}}#0 [0:2]
// CHECK-NEXT: stablehlo.slice %{{.*}}#1 [0:2]
func.func @approximate(%a: tensor<5xf32>, %b: tensor<5xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %b, %least, %none) {
    called_computations = [@greater], mhlo.backend_config = {
      aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64,
      reduction_input_size_override = -1 : i64, top_k = 2 : i64}}
    : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

func.func @unknown(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' calls 'nobody', which nobody has told the meaning of: give it one with mlir_fp8.register_custom_call}}
  %0 = stablehlo.custom_call @nobody(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @older(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' calls 'lapack_sgeqrf', whose operands only jaxlib of before 2025 knows: export the program with a newer JAX, which calls *_ffi}}
  %0 = stablehlo.custom_call @lapack_sgeqrf(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
