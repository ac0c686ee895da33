// RUN: fp8-opt %s --stablehlo-emulate-small-floats --stablehlo-raise-emulation -o %t.mlir
// RUN: fp8-opt %s -o %t.same.mlir
// RUN: diff %t.mlir %t.same.mlir
// RUN: fp8-translate --serialize --target=1.0.0 --emulate-for-target %s | fp8-translate --deserialize --raise-emulation -o %t.read.mlir
// RUN: diff %t.read.mlir %t.same.mlir
// RUN: filecheck %s < %t.read.mlir

// What only converts and moves comes back as it was: constants to the bit, ui8 that was ui8 before,
// attributes, tuples, regions, dynamic shapes, bitcasts.

// CHECK: func.func @constants
// CHECK: dense<[1.000000e+00, 0x79, -0.000000e+00]> : tensor<3xf8E4M3>
func.func @constants() -> (tensor<3xf8E4M3>, tensor<2x2xf4E2M1FN>, tensor<0xf6E2M3FN>, tensor<f8E8M0FNU>, tensor<3xui8>, tensor<2xcomplex<f32>>, tensor<2xf8E5M2>) {
  %0 = stablehlo.constant dense<[1.0, 0x79, -0.0]> : tensor<3xf8E4M3>
  %1 = stablehlo.constant dense<6.0> : tensor<2x2xf4E2M1FN>
  %2 = stablehlo.constant dense<> : tensor<0xf6E2M3FN>
  %3 = stablehlo.constant dense<0xFF> : tensor<f8E8M0FNU>
  %4 = stablehlo.constant dense<[1, 2, 255]> : tensor<3xui8>
  %5 = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %6 = stablehlo.constant dense<0x7D> : tensor<2xf8E5M2>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3xf8E4M3>, tensor<2x2xf4E2M1FN>, tensor<0xf6E2M3FN>, tensor<f8E8M0FNU>, tensor<3xui8>, tensor<2xcomplex<f32>>, tensor<2xf8E5M2>
}

// CHECK: func.func @signature(%arg0: tensor<4xf8E3M4> {jax.name = "x"}, %arg1: tensor<4xui8>) -> (tensor<4xf8E3M4> {jax.name = "y"}, tensor<4xui8>) {
func.func @signature(%a: tensor<4xf8E3M4> {jax.name = "x"}, %b: tensor<4xui8>) -> (tensor<4xf8E3M4> {jax.name = "y"}, tensor<4xui8>) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<4xf8E3M4>
  %1 = stablehlo.reverse %b, dims = [0] : tensor<4xui8>
  return %0, %1 : tensor<4xf8E3M4>, tensor<4xui8>
}

// CHECK: func.func @converts
// CHECK: stablehlo.convert %arg0 {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf6E3M2FN>
func.func @converts(%a: tensor<4xf32>, %b: tensor<4xf64>, %c: tensor<?x4xf32>, %d: tensor<4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4xf4E2M1FN>, tensor<?x4xf8E4M3FNUZ>, tensor<4xf8E4M3>) {
  %0 = stablehlo.convert %a {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf6E3M2FN>
  %1 = stablehlo.convert %0 : (tensor<4xf6E3M2FN>) -> tensor<4xf32>
  %2 = stablehlo.convert %b : (tensor<4xf64>) -> tensor<4xf4E2M1FN>
  %3 = stablehlo.convert %c : (tensor<?x4xf32>) -> tensor<?x4xf8E4M3FNUZ>
  %4 = stablehlo.convert %d : (tensor<4xcomplex<f32>>) -> tensor<4xf8E4M3>
  return %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf4E2M1FN>, tensor<?x4xf8E4M3FNUZ>, tensor<4xf8E4M3>
}

// CHECK: func.func @bitcasts
func.func @bitcasts(%a: tensor<4xf4E2M1FN>, %b: tensor<4xui4>, %c: tensor<4xf8E4M3>, %d: tensor<2x4xf8E3M4>, %e: tensor<4xf6E2M3FN>) -> (tensor<4xi4>, tensor<4xf4E2M1FN>, tensor<4xf8E5M2>, tensor<2xi32>, tensor<4xf6E3M2FN>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf4E2M1FN>) -> tensor<4xi4>
  %1 = stablehlo.bitcast_convert %b : (tensor<4xui4>) -> tensor<4xf4E2M1FN>
  %2 = stablehlo.bitcast_convert %c : (tensor<4xf8E4M3>) -> tensor<4xf8E5M2>
  %3 = stablehlo.bitcast_convert %d : (tensor<2x4xf8E3M4>) -> tensor<2xi32>
  %4 = stablehlo.bitcast_convert %e : (tensor<4xf6E2M3FN>) -> tensor<4xf6E3M2FN>
  return %0, %1, %2, %3, %4 : tensor<4xi4>, tensor<4xf4E2M1FN>, tensor<4xf8E5M2>, tensor<2xi32>, tensor<4xf6E3M2FN>
}

// CHECK: func.func @tuples(%arg0: tuple<tensor<2xf8E3M4>, tensor<ui8>, tuple<tensor<f4E2M1FN>>>
func.func @tuples(%a: tuple<tensor<2xf8E3M4>, tensor<ui8>, tuple<tensor<f4E2M1FN>>>, %t: !stablehlo.token) -> (tensor<2xf8E3M4>, !stablehlo.token) {
  %0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<2xf8E3M4>, tensor<ui8>, tuple<tensor<f4E2M1FN>>>) -> tensor<2xf8E3M4>
  %1 = stablehlo.custom_call @Sharding(%0) : (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>
  return %1, %t : tensor<2xf8E3M4>, !stablehlo.token
}

// CHECK: func.func @regions
func.func @regions(%a: tensor<4xf8E3M4>, %i: tensor<i32>, %k: tensor<4xi8>) -> (tensor<4xf8E3M4>, tensor<4xf8E3M4>, tensor<4xi8>) {
  %0 = stablehlo.while(%x = %a) : tensor<4xf8E3M4>
   cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %x : tensor<4xf8E3M4>
  }
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : tensor<4xf8E3M4>
  }, {
    stablehlo.return %a : tensor<4xf8E3M4>
  }) : (tensor<i32>) -> tensor<4xf8E3M4>
  %2:2 = "stablehlo.sort"(%1, %k) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f8E3M4>, %y: tensor<f8E3M4>, %m: tensor<i8>, %n: tensor<i8>):
    %p = stablehlo.compare LT, %m, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf8E3M4>, tensor<4xi8>) -> (tensor<4xf8E3M4>, tensor<4xi8>)
  return %0, %2#0, %2#1 : tensor<4xf8E3M4>, tensor<4xf8E3M4>, tensor<4xi8>
}

// CHECK: stablehlo.composite "my.op" %arg0 {decomposition = @body} : (tensor<4xf8E4M3>) -> tensor<4xf32>
func.func @composite(%a: tensor<4xf8E4M3>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @body} : (tensor<4xf8E4M3>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%a: tensor<4xf8E4M3>) -> tensor<4xf32> {
  %0 = stablehlo.convert %a : (tensor<4xf8E4M3>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
