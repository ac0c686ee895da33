// RUN: fp8-opt %s "--round-small-floats=rounding=toward-zero" --split-input-file | FileCheck %s --check-prefix=ZERO
// RUN: fp8-opt %s "--round-small-floats=rounding=toward-zero saturate" --split-input-file | FileCheck %s --check-prefix=SATURATE
// RUN: fp8-opt %s "--round-small-floats=saturate" --split-input-file | FileCheck %s --check-prefix=CLAMP
// RUN: fp8-opt %s --round-small-floats --split-input-file | FileCheck %s --check-prefix=NEAREST
// RUN: fp8-opt %s "--round-small-floats=rounding=toward-zero formats=bf16" --split-input-file | FileCheck %s --check-prefix=FORMATS
// RUN: fp8-opt %s "--round-small-floats=rounding=stochastic seed=42" --split-input-file | FileCheck %s --check-prefix=RANDOM
// RUN: not fp8-opt %s "--round-small-floats=rounding=up" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not fp8-opt %s "--round-small-floats=formats=f8" 2>&1 | FileCheck %s --check-prefix=FORMAT

// MODE: error: rounding 'up' is not one of nearest-even, toward-zero, stochastic
// FORMAT: error: 'f8' in option 'formats' is not one of f8E5M2

// The bits below the last place are dropped, of which subnormals have more: 121 is the exponent of
// the smallest normal, 27 the place of the last of four significant bits. The largest value stays
// the largest; infinity and NaN, whose bits are from 2139095040 up, are left to the convert.
// ZERO-LABEL: func.func @convert(
// ZERO-SAME: %arg0: tensor<2xf32>
// ZERO: stablehlo.bitcast_convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
// ZERO: %[[LOWEST:.*]] = stablehlo.constant dense<121> : tensor<2xi32>
// ZERO: stablehlo.maximum {{.*}}, %[[LOWEST]]
// ZERO: stablehlo.shift_right_logical
// ZERO: %[[PLACE:.*]] = stablehlo.constant dense<27> : tensor<2xi32>
// ZERO: %[[QUANTA:.*]] = stablehlo.shift_right_logical {{.*}}, %[[PLACE]]
// ZERO: stablehlo.multiply
// ZERO: %[[MAX:.*]] = stablehlo.constant dense<4.480000e+02> : tensor<2xf32>
// ZERO: stablehlo.minimum {{.*}}, %[[MAX]]
// ZERO: %[[ROUNDED:.*]] = stablehlo.bitcast_convert {{.*}} : (tensor<2xi32>) -> tensor<2xf32>
// ZERO: %[[INF:.*]] = stablehlo.constant dense<2139095040> : tensor<2xi32>
// ZERO: %[[KEPT:.*]] = stablehlo.compare GE, {{.*}}, %[[INF]]
// ZERO: %[[VALUE:.*]] = stablehlo.select %[[KEPT]], %arg0, %[[ROUNDED]]
// ZERO-NOT: clamp
// ZERO: stablehlo.convert %[[VALUE]] {mlir_fp8.rounding = "toward_zero"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// SATURATE-LABEL: func.func @convert(
// SATURATE: %[[VALUE:.*]] = stablehlo.select {{.*}}, %arg0, {{.*}}
// SATURATE: %[[LOW:.*]] = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
// SATURATE: %[[HIGH:.*]] = stablehlo.constant dense<4.480000e+02> : tensor<f32>
// SATURATE: %[[CLAMPED:.*]] = stablehlo.clamp %[[LOW]], %[[VALUE]], %[[HIGH]]
// SATURATE: stablehlo.convert %[[CLAMPED]] {mlir_fp8.rounding = "toward_zero"}
// CLAMP-LABEL: func.func @convert(
// CLAMP-NOT: bitcast
// CLAMP: %[[CLAMPED:.*]] = stablehlo.clamp {{.*}}, %arg0, {{.*}} : (tensor<f32>, tensor<2xf32>, tensor<f32>)
// CLAMP: stablehlo.convert %[[CLAMPED]] {mlir_fp8.rounding = "nearest_even"}
// NEAREST-LABEL: func.func @convert(
// NEAREST-NEXT: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// FORMATS-LABEL: func.func @convert(
// FORMATS-NEXT: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// FORMATS: stablehlo.convert {{.*}} {mlir_fp8.rounding = "toward_zero"} : (tensor<2xf32>) -> tensor<2xbf16>
// The key of seed 42 and convert 0, and the four rounds of Squares.
// RANDOM-LABEL: func.func @convert(
// RANDOM: %[[KEY:.*]] = stablehlo.constant dense<6332618229526065669> : tensor<i64>
// RANDOM: stablehlo.broadcast_in_dim %[[KEY]], dims = [] : (tensor<i64>) -> tensor<2xi64>
// RANDOM: stablehlo.iota dim = 0 : tensor<2xi64>
// RANDOM: stablehlo.shift_left
// RANDOM: stablehlo.shift_left
// RANDOM: stablehlo.shift_left
// RANDOM: %[[BITS:.*]] = stablehlo.shift_right_logical {{.*}} : tensor<2xi64>
// RANDOM: %[[BELOW:.*]] = stablehlo.convert {{.*}} : (tensor<2xi64>) -> tensor<2xi32>
// RANDOM: stablehlo.add {{.*}}, %[[BELOW]] : tensor<2xi32>
// RANDOM-NOT: stablehlo.minimum {{.*}} : tensor<2xf32>
// RANDOM: stablehlo.convert {{.*}} {mlir_fp8.rounding = "stochastic"} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// Another convert, another key.
// RANDOM: stablehlo.constant dense<-409945945691060917> : tensor<i64>
// RANDOM: stablehlo.convert {{.*}} {mlir_fp8.rounding = "stochastic"} : (tensor<2xf32>) -> tensor<2xf4E2M1FN>
func.func @convert(%arg0: tensor<2xf32>)
    -> (tensor<2xf8E4M3FN>, tensor<2xbf16>, tensor<2xf4E2M1FN>, tensor<2xf64>) {
  %0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %1 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xbf16>
  %2 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf4E2M1FN>
  %3 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf64>
  return %0, %1, %2, %3 : tensor<2xf8E4M3FN>, tensor<2xbf16>, tensor<2xf4E2M1FN>, tensor<2xf64>
}

// -----

// f8E8M0FNU has the range of f32: its code is put together from bits, subnormals included, and so
// no product may be flushed to zero.
// ZERO-LABEL: func.func @same_range(
// ZERO-NOT: stablehlo.multiply
// ZERO: stablehlo.constant dense<254> : tensor<2xi32>
// ZERO: stablehlo.constant dense<4194304> : tensor<2xi32>
// ZERO: return
func.func @same_range(%arg0: tensor<2xf32>) -> tensor<2xf8E8M0FNU> {
  %0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  return %0 : tensor<2xf8E8M0FNU>
}

// -----

// From integers through a type that holds them, 64-bit ones with what they lose there known; from
// narrow floats through f32. What this pass has rounded, or the `fp8` dialect, stays.
// ZERO-LABEL: func.func @sources(
// ZERO: stablehlo.convert %arg0 : (tensor<2xi16>) -> tensor<2xf32>
// ZERO: stablehlo.select
// ZERO: stablehlo.convert {{.*}} : (tensor<2xi64>) -> tensor<2xf64>
// ZERO: stablehlo.convert %arg2 : (tensor<2xbf16>) -> tensor<2xf32>
// ZERO: stablehlo.convert %arg3 {mlir_fp8.rounding = "stochastic"}
// ZERO: stablehlo.convert %arg4 : tensor<2xf8E5M2>
func.func @sources(%arg0: tensor<2xi16>, %arg1: tensor<2xi64>, %arg2: tensor<2xbf16>,
                   %arg3: tensor<2xf32>, %arg4: tensor<2xf8E5M2>) {
  %0 = stablehlo.convert %arg0 : (tensor<2xi16>) -> tensor<2xf8E5M2>
  %1 = stablehlo.convert %arg1 : (tensor<2xi64>) -> tensor<2xf8E5M2>
  %2 = stablehlo.convert %arg2 : (tensor<2xbf16>) -> tensor<2xf8E5M2>
  %3 = stablehlo.convert %arg3 {mlir_fp8.rounding = "stochastic"} : (tensor<2xf32>) -> tensor<2xf8E5M2>
  %4 = stablehlo.convert %arg4 : (tensor<2xf8E5M2>) -> tensor<2xf8E5M2>
  return
}

// -----

// ZERO-LABEL: func.func @in_a_body(
// ZERO: stablehlo.while
// ZERO: stablehlo.convert {{.*}} {mlir_fp8.rounding = "toward_zero"} : (tensor<2xf32>) -> tensor<2xf8E5M2>
func.func @in_a_body(%arg0: tensor<2xf8E5M2>, %arg1: tensor<i1>) -> tensor<2xf8E5M2> {
  %0 = stablehlo.while(%x = %arg0) : tensor<2xf8E5M2>
  cond {
    stablehlo.return %arg1 : tensor<i1>
  } do {
    %1 = stablehlo.convert %x : (tensor<2xf8E5M2>) -> tensor<2xf32>
    %2 = stablehlo.convert %1 : (tensor<2xf32>) -> tensor<2xf8E5M2>
    stablehlo.return %2 : tensor<2xf8E5M2>
  }
  return %0 : tensor<2xf8E5M2>
}
