// RUN: fp8-opt %s --bf16-functions-to-math | filecheck %s
// RUN: fp8-opt %s --lower-to-linalg-pipeline | filecheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @functions(
// CHECK:         math.exp %{{.*}} fastmath<afn> : tensor<4xf32>
// CHECK:         math.tanh %{{.*}} fastmath<afn> : tensor<4xf32>
// CHECK:         chlo.erf %{{.*}} : tensor<4xbf16>
// LINALG-LABEL: func.func @functions(
// LINALG:         math.exp %{{.*}} fastmath<afn> : tensor<4xf32>
// LINALG:         math.tanh %{{.*}} fastmath<afn> : tensor<4xf32>
// LINALG:         math.erf %{{.*}} fastmath<afn> : tensor<4xf32>
// LINALG:         return
func.func @functions(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = stablehlo.tanh %3 : tensor<4xf32>
  %5 = stablehlo.convert %4 : (tensor<4xf32>) -> tensor<4xbf16>
  %6 = chlo.erf %5 : tensor<4xbf16> -> tensor<4xbf16>
  return %6 : tensor<4xbf16>
}

// e**x where x is negative, e**-x elsewhere.
// CHECK-LABEL: func.func @logistic(
// CHECK:         %[[X:.*]] = stablehlo.convert
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpf olt, %[[X]]
// CHECK:         %[[OPPOSITE:.*]] = arith.negf %[[X]]
// CHECK:         %[[SMALL:.*]] = arith.select %[[NEGATIVE]], %[[X]], %[[OPPOSITE]]
// CHECK:         %[[POWER:.*]] = math.exp %[[SMALL]] fastmath<afn>
// CHECK:         arith.select %[[NEGATIVE]], %[[POWER]]
func.func @logistic(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.logistic %0 : tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// From f32, to f32 as well, from f16: more can be seen of the result.
// CHECK-LABEL: func.func @seen_better(
// CHECK-NOT:     math.
// CHECK:         return
func.func @seen_better(%x: tensor<4xbf16>, %y: tensor<4xf32>, %z: tensor<4xf16>)
    -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf16>) {
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.exponential %y : tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xbf16>
  %5 = stablehlo.convert %z : (tensor<4xf16>) -> tensor<4xf32>
  %6 = stablehlo.exponential %5 : tensor<4xf32>
  %7 = stablehlo.convert %6 : (tensor<4xf32>) -> tensor<4xf16>
  return %2, %1, %4, %7 : tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf16>
}

// Upstream's folders compute math ops on tensors of constants.
// CHECK-LABEL: func.func @constants(
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32,
// CHECK-NEXT:      math.tanh %[[IN]] fastmath<afn> : f32
func.func @constants() -> tensor<3xbf16> {
  %c = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xbf16>
  %0 = stablehlo.convert %c : (tensor<3xbf16>) -> tensor<3xf32>
  %1 = stablehlo.tanh %0 : tensor<3xf32>
  %2 = stablehlo.convert %1 : (tensor<3xf32>) -> tensor<3xbf16>
  return %2 : tensor<3xbf16>
}
