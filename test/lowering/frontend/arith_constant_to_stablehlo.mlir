// RUN: fp8-opt %s --arith-constant-to-stablehlo | filecheck %s

// CHECK-LABEL: func.func @tensors(
// CHECK-NEXT:    stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    stablehlo.constant dense<0x7F> : tensor<f8E4M3FN>
// CHECK-NEXT:    stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT:    stablehlo.constant dense<[(1.000000e+00,-0.000000e+00), (0x7FC00001,2.500000e+00)]> : tensor<2xcomplex<f32>>
// CHECK-NEXT:    return
func.func @tensors() -> (tensor<4xf32>, tensor<f8E4M3FN>, tensor<2xi1>, tensor<2xcomplex<f32>>) {
  %0 = arith.constant dense<2.0> : tensor<4xf32>
  %1 = arith.constant dense<0x7F> : tensor<f8E4M3FN>
  %2 = arith.constant dense<[true, false]> : tensor<2xi1>
  %3 = arith.constant dense<[(1.0, -0.0), (0x7FC00001, 2.5)]> : tensor<2xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<f8E4M3FN>, tensor<2xi1>, tensor<2xcomplex<f32>>
}

// Scalars, vectors and indices are no constants of StableHLO.

// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    arith.constant 1.0
// CHECK-NEXT:    arith.constant dense<1> : vector<2xi32>
// CHECK-NEXT:    arith.constant dense<3> : tensor<2xindex>
func.func @others() -> (f32, vector<2xi32>, tensor<2xindex>) {
  %0 = arith.constant 1.0 : f32
  %1 = arith.constant dense<1> : vector<2xi32>
  %2 = arith.constant dense<3> : tensor<2xindex>
  return %0, %1, %2 : f32, vector<2xi32>, tensor<2xindex>
}

// In regions, too.

// CHECK-LABEL: func.func @region(
// CHECK:         stablehlo.if
// CHECK-NEXT:      stablehlo.constant dense<1> : tensor<i32>
func.func @region(%p: tensor<i1>, %a: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = arith.constant dense<1> : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }, {
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %0 : tensor<i32>
}
