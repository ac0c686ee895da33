// Chunks without an expected error are printed and checked.
// RUN: fp8-opt %s --convert-small-floats-to-int --split-input-file --verify-diagnostics | FileCheck %s
// RUN: fp8-opt %s --convert-small-floats-to-int=saturate=true --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=SATURATING
// RUN: not fp8-opt %s --convert-small-floats-to-int=saturate=maybe 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not fp8-opt %s --convert-small-floats-to-int=clamp=true 2>&1 | FileCheck %s --check-prefix=NO-OPTION

// OPTION: error: pass 'convert-small-floats-to-int': 'maybe' is not a value of bool option 'saturate'
// NO-OPTION: error: pass 'convert-small-floats-to-int' has no option 'clamp' (options: saturate)

// What moves values moves i8: shapes, layouts and attributes stay.
// CHECK: memref.global "private" constant @table : memref<3xi8> = dense<[56, -1, -128]>
// CHECK: func.func private @callee(i8, tensor<2xi8>) -> memref<?x3xi8, strided<[3, 1], offset: 1>>
// CHECK-LABEL: func.func @moves(
// CHECK-SAME: %arg0: tensor<4xi8>, %arg1: i1) -> (tensor<4xi8>, i8, tensor<0xi8>) {
// CHECK-NEXT: tensor.empty() : tensor<4xi8>
// CHECK-NEXT: linalg.copy ins(%arg0 : tensor<4xi8>) outs(%0 : tensor<4xi8>) -> tensor<4xi8>
// CHECK-NEXT: scf.if %arg1 -> (tensor<4xi8>) {
// CHECK: arith.constant 63 : i8
// CHECK-NEXT: arith.constant dense<> : tensor<0xi8>
memref.global "private" constant @table : memref<3xf8E4M3FN> = dense<[1.0, 0xFF, -0.0]>

func.func private @callee(f8E5M2, tensor<2xf4E2M1FN>)
    -> memref<?x3xf8E8M0FNU, strided<[3, 1], offset: 1>>

func.func @moves(%arg0: tensor<4xf8E4M3FN>, %arg1: i1)
    -> (tensor<4xf8E4M3FN>, f6E2M3FN, tensor<0xf8E5M2>) {
  %0 = tensor.empty() : tensor<4xf8E4M3FN>
  %1 = linalg.copy ins(%arg0 : tensor<4xf8E4M3FN>) outs(%0 : tensor<4xf8E4M3FN>)
      -> tensor<4xf8E4M3FN>
  %2 = scf.if %arg1 -> tensor<4xf8E4M3FN> {
    scf.yield %1 : tensor<4xf8E4M3FN>
  } else {
    scf.yield %arg0 : tensor<4xf8E4M3FN>
  }
  // The code of -7.5 is 0x3F.
  %3 = arith.constant -7.5 : f6E2M3FN
  %4 = arith.constant dense<> : tensor<0xf8E5M2>
  return %2, %3, %4 : tensor<4xf8E4M3FN>, f6E2M3FN, tensor<0xf8E5M2>
}

// -----

// Codes to f32: exponents rebiased, subnormals by an add, NaN by a select.
// CHECK-LABEL: func.func @extf(
// CHECK-SAME: %arg0: i8) -> f32 {
// CHECK-NEXT: arith.extui %arg0 : i8 to i32
// CHECK: arith.shli
// CHECK: arith.maxui
// CHECK: arith.subf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.constant 2143289344 : i32
// CHECK: arith.select
// CHECK: %[[F32:.*]] = arith.bitcast {{.*}} : i32 to f32
// CHECK-NEXT: return %[[F32]] : f32
func.func @extf(%arg0: f8E4M3FN) -> f32 {
  %0 = arith.extf %arg0 : f8E4M3FN to f32
  return %0 : f32
}

// f32 to codes: clamped to 480, the NaN's place, or to 448 when saturating, NaN included; then one
// subtraction rounds.
// CHECK-LABEL: func.func @truncf(
// CHECK-SAME: %arg0: f32) -> i8 {
// CHECK-NEXT: arith.bitcast %arg0 : f32 to i32
// CHECK: %[[NAN:.*]] = arith.constant 1139802112 : i32
// CHECK-NEXT: arith.minui {{.*}}, %[[NAN]] : i32
// CHECK: arith.addi
// CHECK: %[[ROUNDED:.*]] = arith.subf {{.*}} : f32
// CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[ROUNDED]] : f32 to i32
// CHECK: arith.subi {{.*}}, %[[BITS]] : i32
// CHECK-NOT: arith.select
// CHECK: %[[CODE:.*]] = arith.trunci {{.*}} : i32 to i8
// CHECK-NEXT: return %[[CODE]] : i8
// SATURATING-LABEL: func.func @truncf(
// SATURATING: %[[LIMIT:.*]] = arith.constant 1138753536 : i32
// SATURATING-NEXT: arith.minui {{.*}}, %[[LIMIT]] : i32
func.func @truncf(%arg0: f32) -> f8E4M3FN {
  %0 = arith.truncf %arg0 to_nearest_even : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// From f64 in i64 and f64: no double rounding through f32.
// CHECK-LABEL: func.func @from_f64(
// CHECK: arith.bitcast %arg0 : f64 to i64
// CHECK-NOT: f32
// CHECK: arith.trunci {{.*}} : i64 to i8
func.func @from_f64(%arg0: f64) -> f8E5M2 {
  %0 = arith.truncf %arg0 : f64 to f8E5M2
  return %0 : f8E5M2
}

// NaN payloads and codes stay what they are.
// CHECK-LABEL: func.func @constant_result(
// CHECK-NEXT: arith.constant -3 : i8
// CHECK-NEXT: arith.constant dense<[0, 2, -8]> : vector<3xi8>
// CHECK-NEXT: return
func.func @constant_result() -> (f8E5M2, vector<3xf8E4M3FNUZ>) {
  %0 = arith.constant 0xFD : f8E5M2
  %1 = arith.constant dense<[0x00, 0x02, 0xF8]> : vector<3xf8E4M3FNUZ>
  return %0, %1 : f8E5M2, vector<3xf8E4M3FNUZ>
}

// -----

// Arithmetic in f32, rounded once; the same on vectors.
// CHECK-LABEL: func.func @addf(
// CHECK-SAME: %arg0: vector<4xi8>, %arg1: vector<4xi8>) -> vector<4xi8> {
// CHECK: arith.cmpi ugt
// CHECK: %[[A:.*]] = arith.bitcast {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: arith.cmpi ugt
// CHECK: %[[B:.*]] = arith.bitcast {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-NEXT: arith.addf %[[A]], %[[B]] : vector<4xf32>
// CHECK: arith.trunci {{.*}} : vector<4xi32> to vector<4xi8>
func.func @addf(%arg0: vector<4xf8E5M2>, %arg1: vector<4xf8E5M2>) -> vector<4xf8E5M2> {
  %0 = arith.addf %arg0, %arg1 : vector<4xf8E5M2>
  return %0 : vector<4xf8E5M2>
}

// CHECK-LABEL: func.func @cmpf_and_select(
// CHECK: %[[LESS:.*]] = arith.cmpf olt, {{.*}} : f32
// CHECK-NEXT: arith.select %[[LESS]], %arg0, %arg1 : i8
func.func @cmpf_and_select(%arg0: f8E3M4, %arg1: f8E3M4) -> f8E3M4 {
  %0 = arith.cmpf olt, %arg0, %arg1 : f8E3M4
  %1 = arith.select %0, %arg0, %arg1 : f8E3M4
  return %1 : f8E3M4
}

// Signs are bits, where they are; of bf16, held in i16, and f16 too.
// CHECK-LABEL: func.func @signs(
// CHECK-SAME: %arg0: i8, %arg1: i16, %arg2: f16) -> (i8, i8, i16, f16) {
// CHECK-NEXT: %[[SIGN:.*]] = arith.constant -128 : i8
// CHECK-NEXT: arith.xori %arg0, %[[SIGN]] : i8
// CHECK-NEXT: %[[MAGNITUDE:.*]] = arith.constant 127 : i8
// CHECK-NEXT: arith.andi %arg0, %[[MAGNITUDE]] : i8
// CHECK: arith.xori %arg1, {{.*}} : i16
// CHECK: %[[BITS:.*]] = arith.bitcast %arg2 : f16 to i16
// CHECK: arith.andi %[[BITS]], {{.*}} : i16
// CHECK-NEXT: arith.bitcast {{.*}} : i16 to f16
func.func @signs(%arg0: f8E5M2, %arg1: bf16, %arg2: f16) -> (f8E5M2, f8E5M2, bf16, f16) {
  %0 = arith.negf %arg0 : f8E5M2
  %1 = math.absf %arg0 : f8E5M2
  %2 = arith.negf %arg1 : bf16
  %3 = math.absf %arg2 : f16
  return %0, %1, %2, %3 : f8E5M2, f8E5M2, bf16, f16
}

// f6 and f4 are held in i8, and are as wide as they are where their bits are asked for.
// CHECK-LABEL: func.func @bitcasts(
// CHECK-SAME: %arg0: i8, %arg1: i4, %arg2: i8) -> (i6, i8, i8) {
// CHECK-NEXT: arith.trunci %arg0 : i8 to i6
// CHECK-NEXT: arith.extui %arg1 : i4 to i8
// CHECK-NEXT: return {{.*}}, {{.*}}, %arg2
func.func @bitcasts(%arg0: f6E2M3FN, %arg1: i4, %arg2: f8E4M3FN) -> (i6, f4E2M1FN, i8) {
  %0 = arith.bitcast %arg0 : f6E2M3FN to i6
  %1 = arith.bitcast %arg1 : i4 to f4E2M1FN
  %2 = arith.bitcast %arg2 : f8E4M3FN to i8
  return %0, %1, %2 : i6, f4E2M1FN, i8
}

// f32 to bf16 by bits, without flushing subnormals; f32 to f16 has an instruction, f64 to f16 has
// none that rounds once.
// CHECK-LABEL: func.func @halves(
// CHECK: arith.bitcast %arg0 : f32 to i32
// CHECK: arith.trunci {{.*}} : i32 to i16
// CHECK-NEXT: arith.truncf %arg0 : f32 to f16
// CHECK-NEXT: arith.bitcast %arg1 : f64 to i64
// CHECK: arith.bitcast {{.*}} : i16 to f16
func.func @halves(%arg0: f32, %arg1: f64) -> (bf16, f16, f16) {
  %0 = arith.truncf %arg0 : f32 to bf16
  %1 = arith.truncf %arg0 : f32 to f16
  %2 = arith.truncf %arg1 : f64 to f16
  return %0, %1, %2 : bf16, f16, f16
}

// 64-bit integers are rounded to odd in f64 first, so that they round once.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: arith.constant 2047 : i64
// CHECK: %[[ODD:.*]] = arith.select
// CHECK-NEXT: arith.sitofp %[[ODD]] : i64 to f64
// CHECK: arith.uitofp %arg1 : i8 to f32
// CHECK: arith.fptosi {{.*}} : f32 to i16
func.func @integers(%arg0: i64, %arg1: i8, %arg2: f8E5M2) -> (f8E5M2, f8E5M2, i16) {
  %0 = arith.sitofp %arg0 : i64 to f8E5M2
  %1 = arith.uitofp %arg1 : i8 to f8E5M2
  %2 = arith.fptosi %arg2 : f8E5M2 to i16
  return %0, %1, %2 : f8E5M2, f8E5M2, i16
}

// Bitcasts between a format and its storage integer fold away.
// CHECK-LABEL: func.func @casts(
// CHECK-NEXT: return %arg0, %arg1 : i8, tensor<2xi8>
func.func @casts(%arg0: i8, %arg1: tensor<2xi8>) -> (i8, tensor<2xi8>) {
  %0 = builtin.unrealized_conversion_cast %arg0 : i8 to f8E4M3FN
  %1 = builtin.unrealized_conversion_cast %0 : f8E4M3FN to i8
  %2 = tensor.bitcast %arg1 : tensor<2xi8> to tensor<2xf8E5M2>
  %3 = tensor.bitcast %2 : tensor<2xf8E5M2> to tensor<2xi8>
  return %1, %3 : i8, tensor<2xi8>
}

// Wider floats are not looked at.
// CHECK-LABEL: func.func @wide(
// CHECK-NEXT: arith.addf %arg0, %arg0 : f32
// CHECK-NEXT: arith.extf {{.*}} : f32 to f64
func.func @wide(%arg0: f32) -> f64 {
  %0 = arith.addf %arg0, %arg0 : f32
  %1 = arith.extf %0 : f32 to f64
  return %1 : f64
}

// -----

func.func @rounding(%arg0: f32) {
  // expected-error@+1 {{'arith.truncf' rounds toward_zero: only to_nearest_even is lowered for f8E4M3FN; in StableHLO, round-small-floats and fp8.convert round so}}
  %0 = arith.truncf %arg0 toward_zero : f32 to f8E4M3FN
  return
}

// -----

func.func @from_f80(%arg0: f80) {
  // expected-error@+1 {{'arith.truncf' from f80 to f8E4M3FN is not lowered: go through f64 or f32}}
  %0 = arith.truncf %arg0 : f80 to f8E4M3FN
  return
}

// -----

func.func @from_i128(%arg0: i128) {
  // expected-error@+1 {{'arith.uitofp' from i128 to f8E5M2 is not lowered: truncate to i64 first}}
  %0 = arith.uitofp %arg0 : i128 to f8E5M2
  return
}

// -----

func.func @negative(%arg0: f8E8M0FNU) {
  // expected-error@+1 {{'arith.negf' on f8E8M0FNU: the format has no negative numbers}}
  %0 = arith.negf %arg0 : f8E8M0FNU
  return
}

// -----

func.func @no_rule(%arg0: f8E5M2) {
  // expected-error@+1 {{'math.fma' has no lowering for f8E5M2: compute it in f32 and convert}}
  %0 = math.fma %arg0, %arg0, %arg0 : f8E5M2
  return
}

// -----

func.func @atomic(%arg0: memref<4xf8E5M2>, %arg1: f8E5M2, %arg2: index) {
  // expected-error@+1 {{'memref.atomic_rmw' has no lowering for f8E5M2: compute it in f32 and convert}}
  %0 = memref.atomic_rmw addf %arg1, %arg0[%arg2] : (f8E5M2, memref<4xf8E5M2>) -> f8E5M2
  return
}

// -----

func.func @named(%arg0: tensor<4x4xf8E4M3FN>, %arg1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'linalg.matmul' on f8E4M3FN hides its arithmetic: run linalg-generalize-named-ops first}}
  %0 = linalg.matmul ins(%arg0, %arg0 : tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>)
      outs(%arg1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @casting_copy(%arg0: tensor<4xf32>, %arg1: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error@+1 {{'linalg.copy' on f8E4M3FN hides its arithmetic: run linalg-generalize-named-ops first}}
  %0 = linalg.copy ins(%arg0 : tensor<4xf32>) outs(%arg1 : tensor<4xf8E4M3FN>)
      -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @dynamic(%arg0: tensor<?xf8E4M3FN>) {
  // expected-error@+1 {{'arith.addf' on tensor<?xf8E4M3FN> needs a static shape: run convert-elementwise-to-linalg}}
  %0 = arith.addf %arg0, %arg0 : tensor<?xf8E4M3FN>
  return
}

// -----

func.func @cast(%arg0: f8E4M3FN) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' between f8E4M3FN and f8E5M2 says not how: use arith.bitcast or f32}}
  %0 = builtin.unrealized_conversion_cast %arg0 : f8E4M3FN to f8E5M2
  return
}

// -----

func.func @sparse() {
  // expected-error@+1 {{'arith.constant' holds a sparse constant of tensor<4xf8E4M3FN>: make it dense}}
  %0 = arith.constant sparse<[[1]], [2.0]> : tensor<4xf8E4M3FN>
  return
}

// -----

func.func @resource() {
  // expected-error@+1 {{'arith.constant' holds a dense_resource constant of tensor<4xf8E4M3FN>: make it dense}}
  %0 = arith.constant dense_resource<codes> : tensor<4xf8E4M3FN>
  return
}

{-#
  dialect_resources: { builtin: { codes: "0x0100000001020304" } }
#-}
