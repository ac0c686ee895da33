// RUN: fp8-opt %s --chlo-legalize-to-math | filecheck %s
// RUN: fp8-opt %s --lower-to-llvm-pipeline | filecheck %s --check-prefix=LLVM

// LLVM-NOT: call @{{.*f}}(

// CHECK-LABEL: func.func @functions(
// CHECK-SAME:      %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[ACOS:.*]] = math.acos %[[X]] : tensor<4xf32>
// CHECK-NEXT:    %[[ACOSH:.*]] = math.acosh %[[ACOS]] : tensor<4xf32>
// CHECK-NEXT:    %[[ASIN:.*]] = math.asin %[[ACOSH]] : tensor<4xf32>
// CHECK-NEXT:    %[[ASINH:.*]] = math.asinh %[[ASIN]] : tensor<4xf32>
// CHECK-NEXT:    %[[ATAN:.*]] = math.atan %[[ASINH]] : tensor<4xf32>
// CHECK-NEXT:    %[[ATANH:.*]] = math.atanh %[[ATAN]] : tensor<4xf32>
// CHECK-NEXT:    %[[COSH:.*]] = math.cosh %[[ATANH]] : tensor<4xf32>
// CHECK-NEXT:    %[[ERF:.*]] = math.erf %[[COSH]] : tensor<4xf32>
// CHECK-NEXT:    %[[ERFC:.*]] = math.erfc %[[ERF]] : tensor<4xf32>
// CHECK-NEXT:    %[[SINH:.*]] = math.sinh %[[ERFC]] : tensor<4xf32>
// CHECK-NEXT:    %[[TAN:.*]] = math.tan %[[SINH]] : tensor<4xf32>
// CHECK-NEXT:    return %[[TAN]]
func.func @functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %acos = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  %acosh = chlo.acosh %acos : tensor<4xf32> -> tensor<4xf32>
  %asin = chlo.asin %acosh : tensor<4xf32> -> tensor<4xf32>
  %asinh = chlo.asinh %asin : tensor<4xf32> -> tensor<4xf32>
  %atan = chlo.atan %asinh : tensor<4xf32> -> tensor<4xf32>
  %atanh = chlo.atanh %atan : tensor<4xf32> -> tensor<4xf32>
  %cosh = chlo.cosh %atanh : tensor<4xf32> -> tensor<4xf32>
  %erf = chlo.erf %cosh : tensor<4xf32> -> tensor<4xf32>
  %erfc = chlo.erfc %erf : tensor<4xf32> -> tensor<4xf32>
  %sinh = chlo.sinh %erfc : tensor<4xf32> -> tensor<4xf32>
  %tan = chlo.tan %sinh : tensor<4xf32> -> tensor<4xf32>
  return %tan : tensor<4xf32>
}

// CHECK-LABEL: func.func @logistic(
// CHECK:         %[[MINUS:.*]] = arith.negf %{{.*}} : tensor<4xf32>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[MINUS]] : tensor<4xf32> to tensor<4xf64>
// CHECK:         %[[POWER:.*]] = math.exp %[[WIDE]] {mlir_fp8.to_f32}
// CHECK:         %[[SUM:.*]] = arith.addf %[[ONE:.*]], %[[POWER]]
// CHECK:         %[[QUOTIENT:.*]] = arith.divf %[[ONE]], %[[SUM]]
// CHECK:         arith.truncf %[[QUOTIENT]] : tensor<4xf64> to tensor<4xf32>
func.func @logistic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.logistic %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What the math dialect lacks rounds once, too.
// CHECK-LABEL: func.func @in_f64(
// CHECK:         %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xf64>
// CHECK-NEXT:    %[[LGAMMA:.*]] = chlo.lgamma %[[WIDE]] : tensor<4xf64> -> tensor<4xf64>
// CHECK:         %[[AT_ONE:.*]] = stablehlo.compare EQ, %[[WIDE]], %{{.*}}
// CHECK:         %[[AT_TWO:.*]] = stablehlo.compare EQ, %[[WIDE]], %{{.*}}
// CHECK:         %[[AT_ROOT:.*]] = stablehlo.or %[[AT_ONE]], %[[AT_TWO]]
// CHECK:         %[[SELECTED:.*]] = stablehlo.select %[[AT_ROOT]], %{{.*}}, %[[LGAMMA]]
// CHECK-NEXT:    %[[X:.*]] = stablehlo.convert %[[SELECTED]] : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xf64>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %[[X]] : (tensor<4xf32>) -> tensor<4xf64>
// CHECK-NEXT:    %[[ZETA:.*]] = chlo.zeta %[[A]], %[[B]]
// CHECK-NEXT:    stablehlo.convert %[[ZETA]] : (tensor<4xf64>) -> tensor<4xf32>
func.func @in_f64(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.zeta %y, %0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The decomposition of erf_inv needs a logarithm in f64, which math-expand-in-f64 shall have.
// CHECK-LABEL: func.func @erf_inv(
// CHECK-NOT:     chlo
// CHECK:         math.log1p %{{.*}} fastmath<afn> : tensor<4xf64>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-NEXT:    return
func.func @erf_inv(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// In the body of a reduction, on scalars.
// CHECK-LABEL: func.func @body(
// CHECK:         %[[SCALAR:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK-NEXT:    %[[ERF:.*]] = math.erf %[[SCALAR]] : f32
// CHECK-NEXT:    tensor.from_elements %[[ERF]] : tensor<f32>
func.func @body(%x: tensor<4xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %erf = chlo.erf %a : tensor<f32> -> tensor<f32>
    %logistic = stablehlo.logistic %erf : tensor<f32>
    %erf_inv = chlo.erf_inv %logistic : tensor<f32> -> tensor<f32>
    %lgamma = chlo.lgamma %erf_inv : tensor<f32> -> tensor<f32>
    %sum = stablehlo.add %lgamma, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Other types are not its business.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    chlo.asin %{{.*}} : tensor<4xf64> -> tensor<4xf64>
// CHECK-NEXT:    stablehlo.logistic %{{.*}} : tensor<4xcomplex<f32>>
// CHECK-NEXT:    chlo.erf %{{.*}} : tensor<4xf8E4M3> -> tensor<4xf8E4M3>
// CHECK-NEXT:    return
func.func @others(%x: tensor<4xf64>, %z: tensor<4xcomplex<f32>>, %y: tensor<4xf8E4M3>) {
  %0 = chlo.asin %x : tensor<4xf64> -> tensor<4xf64>
  %1 = stablehlo.logistic %z : tensor<4xcomplex<f32>>
  %2 = chlo.erf %y : tensor<4xf8E4M3> -> tensor<4xf8E4M3>
  return
}

// Upstream's folders compute math ops on tensors of constants.
// CHECK-LABEL: func.func @constants(
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32,
// CHECK-NEXT:      math.cosh %[[IN]] : f32
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0(
// CHECK:           math.exp %{{.*}} : f64
func.func @constants() -> (tensor<3xf32>, tensor<3xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
  %0 = chlo.cosh %c : tensor<3xf32> -> tensor<3xf32>
  %1 = stablehlo.logistic %0 : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
