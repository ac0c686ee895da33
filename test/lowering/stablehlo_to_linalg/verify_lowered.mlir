// RUN: fp8-opt %s --verify-lowered --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not fp8-opt %s --verify-lowered=to=hlo 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: fp8-opt %S/../Inputs/verify_lowered_to_linalg.mlir --verify-lowered=to=linalg --split-input-file --verify-diagnostics | FileCheck %S/../Inputs/verify_lowered_to_linalg.mlir
// RUN: not fp8-opt %S/../Inputs/verify_lowered_to_linalg.mlir --verify-lowered --split-input-file 2>&1 | FileCheck %s --check-prefix=PLACE

// OPTION: error: pass 'verify-lowered': to=hlo is not one of linalg, llvm
// PLACE: verify_lowered_to_linalg.mlir:1:1: error: 'func.func' is not lowered to the LLVM dialect

// CHECK-LABEL: llvm.func @lowered
// CHECK: llvm.mlir.constant(dense<[56, -1]> : vector<2xi8>) : vector<2xi8>
llvm.func @lowered(%arg0: !llvm.ptr) -> vector<2xi8> {
  %0 = llvm.mlir.constant(dense<[56, -1]> : vector<2xi8>) : vector<2xi8>
  llvm.return %0 : vector<2xi8>
}

// -----

llvm.func @left() {
  // expected-error@+1 {{'arith.constant' is not lowered to the LLVM dialect}}
  %0 = arith.constant 1 : i32
  llvm.return
}

// -----

llvm.func @cast(%arg0: i8) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' is not lowered to the LLVM dialect}}
  %0 = builtin.unrealized_conversion_cast %arg0 : i8 to f8E4M3FN
  llvm.return
}

// -----

// Small floats anywhere: in constants, the types that ops name, the attributes of arguments.
llvm.func @scalar() {
  // expected-error@+1 {{'llvm.mlir.constant' holds f8E4M3FN, which LLVM does not know: run convert-small-floats-to-int before the conversion to LLVM}}
  %0 = llvm.mlir.constant(1.0 : f8E4M3FN) : i8
  llvm.return
}

// -----

// expected-error@+1 {{'llvm.mlir.global' holds tensor<4xf6E2M3FN>}}
llvm.mlir.global internal constant @dense(dense<1.0> : tensor<4xf6E2M3FN>) : !llvm.array<4 x i8>

// -----

llvm.func @address(%arg0: !llvm.ptr) {
  // expected-error@+1 {{'llvm.getelementptr' holds f4E2M1FN}}
  %0 = llvm.getelementptr %arg0[1] : (!llvm.ptr) -> !llvm.ptr, f4E2M1FN
  llvm.return
}

// -----

// expected-error@+1 {{'llvm.func' holds !llvm.struct<(i32, f8E5M2)>}}
llvm.func @by_value(!llvm.ptr {llvm.byval = !llvm.struct<(i32, f8E5M2)>})

// -----

// Even those of no row of the table of formats.
llvm.func @unknown() {
  // expected-error@+1 {{'llvm.mlir.constant' holds f8E5M3FNU}}
  %0 = llvm.mlir.constant(1.0 : f8E5M3FNU) : i8
  llvm.return
}

// -----

// expected-error@+1 {{'llvm.mlir.global' holds tensor<4xf8E5M2>}}
llvm.mlir.global internal constant @resource(dense_resource<codes> : tensor<4xf8E5M2>) : !llvm.array<4 x i8>

{-#
  dialect_resources: { builtin: { codes: "0x0100000001020304" } }
#-}
