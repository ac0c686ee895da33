// RUN: fp8-opt %s --stablehlo-emulate-small-floats --split-input-file --verify-diagnostics | filecheck %s

// The function that stands for a conversion is the algorithm of lowering/codec/float_codec.py.

// CHECK-LABEL: func.func @converts(
// CHECK-SAME:    %[[A:.*]]: tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}, %[[F:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"})
// CHECK-NEXT:    %[[UP:.*]] = call @mlir_fp8.convert.f8E4M3.f32.4(%[[A]]) : (tensor<4xui8>) -> tensor<4xf32>
// CHECK-NEXT:    %[[DOWN:.*]] = call @mlir_fp8.convert.f32.f8E4M3.4(%[[F]]) {mlir_fp8.emulated = ["f8E4M3"]} : (tensor<4xf32>) -> tensor<4xui8>
// CHECK-NEXT:    return %[[UP]], %[[DOWN]] : tensor<4xf32>, tensor<4xui8>
// CHECK:       func.func private @mlir_fp8.convert.f8E4M3.f32.4(%[[X:.*]]: tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}) -> tensor<4xf32> attributes {mlir_fp8.emulates = "stablehlo.convert"}
// CHECK-NEXT:    %[[CODE:.*]] = stablehlo.convert %[[X]] : (tensor<4xui8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[MASK:.*]] = stablehlo.constant dense<127> : tensor<4xi32>
// CHECK-NEXT:    %[[MAGNITUDE:.*]] = stablehlo.and %[[CODE]], %[[MASK]] : tensor<4xi32>
// CHECK:         %[[MADE:.*]] = stablehlo.select
// CHECK:         %[[SIGNED:.*]] = stablehlo.or %[[MADE]], %{{.*}} : tensor<4xi32>
// CHECK-NEXT:    %[[RESULT:.*]] = stablehlo.bitcast_convert %[[SIGNED]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[RESULT]]
// CHECK:       func.func private @mlir_fp8.convert.f32.f8E4M3.4(%[[X:.*]]: tensor<4xf32>) -> (tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}) attributes {mlir_fp8.emulates = "stablehlo.convert"}
// CHECK-NEXT:    stablehlo.bitcast_convert %[[X]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xi32>) -> tensor<4xui8>
func.func @converts(%a: tensor<4xf8E4M3>, %f: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf8E4M3>) {
  %0 = stablehlo.convert %a : (tensor<4xf8E4M3>) -> tensor<4xf32>
  %1 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xf8E4M3>
  return %0, %1 : tensor<4xf32>, tensor<4xf8E4M3>
}

// -----

// f64 in its own 64 bits, bf16 by way of f32, each function once.

// CHECK-LABEL: func.func @sources(
// CHECK-NEXT:    call @mlir_fp8.convert.f64.f4E2M1FN.2(
// CHECK-NEXT:    %[[W:.*]] = stablehlo.convert %{{.*}} : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK-NEXT:    call @mlir_fp8.convert.f32.f4E2M1FN.2(%[[W]])
// CHECK-NEXT:    call @mlir_fp8.convert.f32.f4E2M1FN.2(
// CHECK-NEXT:    return
// CHECK:       func.func private @mlir_fp8.convert.f64.f4E2M1FN.2(
// CHECK-NEXT:    stablehlo.bitcast_convert %{{.*}} : (tensor<2xf64>) -> tensor<2xi64>
// CHECK:       func.func private @mlir_fp8.convert.f32.f4E2M1FN.2(
// CHECK-NOT:   func.func
func.func @sources(%d: tensor<2xf64>, %b: tensor<2xbf16>, %f: tensor<2xf32>) -> (tensor<2xf4E2M1FN>, tensor<2xf4E2M1FN>, tensor<2xf4E2M1FN>) {
  %0 = stablehlo.convert %d : (tensor<2xf64>) -> tensor<2xf4E2M1FN>
  %1 = stablehlo.convert %b : (tensor<2xbf16>) -> tensor<2xf4E2M1FN>
  %2 = stablehlo.convert %f : (tensor<2xf32>) -> tensor<2xf4E2M1FN>
  return %0, %1, %2 : tensor<2xf4E2M1FN>, tensor<2xf4E2M1FN>, tensor<2xf4E2M1FN>
}

// -----

// Types that the target knows stay as they are, and so does arithmetic on them.

// CHECK-LABEL: func.func @known(
// CHECK-NEXT:    stablehlo.add %{{.*}} : tensor<4xf8E5M2>
// CHECK-NEXT:    stablehlo.multiply %{{.*}} : tensor<4xbf16>
// CHECK-NEXT:    stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<bf16>
// CHECK-NEXT:    return
func.func @known(%a: tensor<4xf8E5M2>, %b: tensor<4xbf16>, %c: tensor<bf16>) -> (tensor<4xf8E5M2>, tensor<4xbf16>, tensor<bf16>) {
  %0 = stablehlo.add %a, %a : tensor<4xf8E5M2>
  %1 = stablehlo.multiply %b, %b : tensor<4xbf16>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0, %1, %2 : tensor<4xf8E5M2>, tensor<4xbf16>, tensor<bf16>
}

// -----

// CHECK-LABEL: func.func @arithmetic(
// CHECK-NEXT:    %[[A:.*]] = call @mlir_fp8.convert.f6E2M3FN.f32.4(
// CHECK-NEXT:    %[[B:.*]] = call @mlir_fp8.convert.f6E2M3FN.f32.4(
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]] : tensor<4xf32>
// CHECK-NEXT:    call @mlir_fp8.convert.f32.f6E2M3FN.4(%[[SUM]])
func.func @arithmetic(%a: tensor<4xf6E2M3FN>, %b: tensor<4xf6E2M3FN>) -> tensor<4xf6E2M3FN> {
  %0 = stablehlo.add %a, %b : tensor<4xf6E2M3FN>
  return %0 : tensor<4xf6E2M3FN>
}

// -----

// Codes in the low bits, a splat as a splat, NaN payloads kept; marks on results and on arguments of
// regions.

// CHECK-LABEL: func.func @marks(
// CHECK-NEXT:    stablehlo.constant {mlir_fp8.emulated = ["f8E4M3"]} dense<[249, 128]> : tensor<2xui8>
// CHECK-NEXT:    stablehlo.constant {mlir_fp8.emulated = ["f4E2M1FN"]} dense<15> : tensor<2xui8>
// CHECK:         }) {mlir_fp8.emulated = ["f8E4M3", "_"], mlir_fp8.emulated_arguments = {{\[\[}}"f8E4M3", "f8E4M3", "_", "_"]]} :
func.func @marks(%k: tensor<2xi8>) -> (tensor<2xf4E2M1FN>, tensor<2xf8E4M3>, tensor<2xi8>) {
  %0 = stablehlo.constant dense<[0xF9, -0.0]> : tensor<2xf8E4M3>
  %1 = stablehlo.constant dense<-6.0> : tensor<2xf4E2M1FN>
  %2:2 = "stablehlo.sort"(%0, %k) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f8E4M3>, %y: tensor<f8E4M3>, %m: tensor<i8>, %n: tensor<i8>):
    %p = stablehlo.compare LT, %m, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2xf8E4M3>, tensor<2xi8>) -> (tensor<2xf8E4M3>, tensor<2xi8>)
  return %1, %2#0, %2#1 : tensor<2xf4E2M1FN>, tensor<2xf8E4M3>, tensor<2xi8>
}

// -----

// CHECK-LABEL: func.func private @mlir_fp8.convert.f8E4M3FNUZ.f32.dx4(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xui8>
// CHECK-NEXT:    %[[D0:.*]] = stablehlo.get_dimension_size %[[X]], dim = 0 : (tensor<?x4xui8>) -> tensor<i32>
// CHECK:         %[[SHAPE:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK:         stablehlo.dynamic_broadcast_in_dim %{{.*}}, %[[SHAPE]], dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x4xi32>
func.func @dynamic(%a: tensor<?x4xf8E4M3FNUZ>) -> tensor<?x4xf32> {
  %0 = stablehlo.convert %a : (tensor<?x4xf8E4M3FNUZ>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// f4 and integers of four bits: the low bits of ui8.

// CHECK-LABEL: func.func private @mlir_fp8.bitcast_convert.f4E2M1FN.i4.4(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xui8>) -> tensor<4xui4>
// CHECK-NEXT:    stablehlo.bitcast_convert %{{.*}} : (tensor<4xui4>) -> tensor<4xi4>
func.func @bitcast(%a: tensor<4xf4E2M1FN>) -> tensor<4xi4> {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf4E2M1FN>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

func.func @regroups(%a: tensor<4x2xf4E2M1FN>) -> tensor<4xi8> {
  // expected-error@+1 {{'stablehlo.bitcast_convert' from tensor<4x2xf4E2M1FN> to tensor<4xi8> regroups bits, but emulated codes travel in 8 bits each; convert the codes as integers}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4x2xf4E2M1FN>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @custom(%a: tensor<4xf8E4M3>) -> tensor<4xf8E4M3> {
  // expected-error@+1 {{'stablehlo.custom_call' takes or gives f8E4M3, and 'mine' would not know that ui8 stands for it}}
  %0 = stablehlo.custom_call @mine(%a) : (tensor<4xf8E4M3>) -> tensor<4xf8E4M3>
  return %0 : tensor<4xf8E4M3>
}

// -----

func.func @rng(%a: tensor<f8E4M3>, %s: tensor<1xi64>) -> tensor<4xf8E4M3> {
  // expected-error@+1 {{'stablehlo.rng' has no rule for f8E4M3; convert to f32 before it and back after}}
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f8E4M3>, tensor<f8E4M3>, tensor<1xi64>) -> tensor<4xf8E4M3>
  return %0 : tensor<4xf8E4M3>
}

// -----

func.func @infeed(%t: !stablehlo.token) -> tensor<4xf8E4M3> {
  // expected-error@+1 {{'stablehlo.infeed' has no form on codes of f8E4M3; convert to f32 before it and back after}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf8E4M3>, !stablehlo.token)
  return %0#0 : tensor<4xf8E4M3>
}

// -----

// expected-error@+1 {{'func.func' has no body, and who gives it would not know that ui8 stands for f8E4M3}}
func.func private @elsewhere(tensor<4xf8E4M3>)

// -----

func.func @noted(%b: tensor<4xf8E4M3>) -> tensor<4xf8E4M3> {
  // expected-error@+1 {{'func.return' has f8E4M3 in attribute 'my.note', which cannot be emulated}}
  "func.return"(%b) {my.note = tensor<2xf8E4M3>} : (tensor<4xf8E4M3>) -> ()
}

// -----

func.func @chlo(%a: tensor<4xf8E4M3>) -> tensor<4xf8E4M3> {
  // expected-error@+1 {{'chlo.broadcast_add' works on f8E4M3; run chlo-legalize-to-stablehlo first}}
  %0 = chlo.broadcast_add %a, %a : (tensor<4xf8E4M3>, tensor<4xf8E4M3>) -> tensor<4xf8E4M3>
  return %0 : tensor<4xf8E4M3>
}

// -----

// expected-error@+1 {{'func.func' is emulated already; run stablehlo-raise-emulation first}}
func.func @twice(%a: tensor<4xui8> {mlir_fp8.emulated = "f8E4M3"}) {
  return
}

// -----

// expected-error@+1 {{'func.func' has a value of type tensor<4x!quant.uniform<i8:f8E4M3, 1.000000e+00>>, in which f8E4M3 cannot become ui8}}
func.func @quantized(%a: tensor<4x!quant.uniform<i8:f8E4M3, 1.0>>) {
  return
}
