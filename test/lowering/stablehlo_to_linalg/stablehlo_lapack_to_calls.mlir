// RUN: fp8-opt %s --stablehlo-lapack-to-calls --split-input-file --verify-diagnostics | filecheck %s

// The routine gets addresses, and the matrix as it is in memory: column by column.
// CHECK:         llvm.func @fp8_lapack_sgetrf(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK:         func.func private @lapack_sgetrf_0(%{{.*}}: memref<2x4x3xf32>, %{{.*}}: memref<2x3xi32>, %{{.*}}: memref<2xi32>)
// CHECK:           scf.for
// CHECK:             llvm.call @fp8_lapack_sgetrf(
// CHECK-LABEL: func.func @columns(
// CHECK-NEXT:    %[[TURNED:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1]
// CHECK-NEXT:    %[[MATRIX:.*]] = memref.alloc() : memref<2x4x3xf32>
// CHECK-NEXT:    bufferization.materialize_in_destination %[[TURNED]] in restrict writable %[[MATRIX]]
// CHECK-NEXT:    %[[PIVOTS:.*]] = memref.alloc() : memref<2x3xi32>
// CHECK-NEXT:    %[[INFO:.*]] = memref.alloc() : memref<2xi32>
// CHECK-NEXT:    call @lapack_sgetrf_0(%[[MATRIX]], %[[PIVOTS]], %[[INFO]])
// CHECK-NEXT:    %[[FACTORS:.*]] = bufferization.to_tensor %[[MATRIX]] restrict
// CHECK-NEXT:    stablehlo.transpose %[[FACTORS]], dims = [0, 2, 1]
func.func @columns(%x: tensor<2x3x4xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {
    mhlo.backend_config = {},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
    result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>,
                      dense<0> : tensor<1xindex>]}
    : (tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2xi32>
}

// -----

// Row-major layouts need no transpose. The workspace size is queried first.
// CHECK:         func.func private @lapack_zgeqrf_0(%{{.*}}: memref<3x2xcomplex<f64>>, %{{.*}}: memref<2xcomplex<f64>>)
// CHECK:           %[[ROOM:.*]] = llvm.call @malloc(
// CHECK:           llvm.call @fp8_lapack_zgeqrf(
// CHECK-NEXT:      %[[WANTED:.*]] = llvm.load %[[ROOM]] : !llvm.ptr -> f64
// CHECK:           %[[WORK:.*]] = llvm.call @malloc(
// CHECK:           scf.for
// CHECK:             llvm.call @fp8_lapack_zgeqrf(
// CHECK:           llvm.call @free(%[[WORK]])
// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     transpose
func.func @rows(%x: tensor<3x2xcomplex<f64>>)
    -> (tensor<3x2xcomplex<f64>>, tensor<2xcomplex<f64>>) {
  %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%x) {mhlo.backend_config = {}}
    : (tensor<3x2xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>, tensor<2xcomplex<f64>>)
  return %0#0, %0#1 : tensor<3x2xcomplex<f64>>, tensor<2xcomplex<f64>>
}

// -----

// CHECK-LABEL: func.func @none(
// CHECK-NOT:     call
// CHECK:         return
func.func @none(%x: tensor<0x2x2xf32>) -> (tensor<0x2x2xf32>, tensor<0xi32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}}
    : (tensor<0x2x2xf32>) -> (tensor<0x2x2xf32>, tensor<0xi32>)
  return %0#0, %0#1 : tensor<0x2x2xf32>, tensor<0xi32>
}

// -----

func.func @misfit(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {
  // expected-error @+1 {{'stablehlo.custom_call' calls 'lapack_spotrf_ffi' and has operand 0 of 2 rows and 3 columns}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}}
    : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<i32>
}

// -----

func.func @open(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<i32>) {
  // expected-error @+1 {{'stablehlo.custom_call' on tensor<?x?xf32> needs a static shape: refine shapes first}}
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}}
    : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<?x?xf32>, tensor<i32>
}
