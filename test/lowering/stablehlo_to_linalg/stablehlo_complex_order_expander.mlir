// RUN: fp8-opt %s --stablehlo-complex-order-expander | filecheck %s

// CHECK-LABEL: @maximum
// CHECK-NEXT: %[[LR:.*]] = stablehlo.real %arg0
// CHECK-NEXT: %[[RR:.*]] = stablehlo.real %arg1
// CHECK-NEXT: %[[LI:.*]] = stablehlo.imag %arg0
// CHECK-NEXT: %[[RI:.*]] = stablehlo.imag %arg1
// CHECK-NEXT: %[[BEYOND:.*]] = stablehlo.compare GT, %[[LR]], %[[RR]]
// CHECK-NEXT: %[[EQUAL:.*]] = stablehlo.compare EQ, %[[LR]], %[[RR]]
// CHECK-NEXT: %[[DECIDED:.*]] = stablehlo.compare GE, %[[LI]], %[[RI]]
// CHECK-NEXT: %[[SECOND:.*]] = stablehlo.and %[[EQUAL]], %[[DECIDED]]
// CHECK-NEXT: %[[FIRST:.*]] = stablehlo.or %[[BEYOND]], %[[SECOND]]
// CHECK-NEXT: stablehlo.select %[[FIRST]], %arg0, %arg1
func.func @maximum(%a: tensor<3xcomplex<f32>>, %b: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.maximum %a, %b : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// CHECK-LABEL: @compare
// CHECK: stablehlo.compare LT
// CHECK: stablehlo.compare EQ
// CHECK: stablehlo.compare LT
// CHECK: stablehlo.compare EQ, %arg0, %arg0 : (tensor<3xcomplex<f64>>
func.func @compare(%a: tensor<3xcomplex<f64>>) -> (tensor<3xi1>, tensor<3xi1>) {
  %0 = stablehlo.compare LT, %a, %a : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xi1>
  %1 = stablehlo.compare EQ, %a, %a : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xi1>
  return %0, %1 : tensor<3xi1>, tensor<3xi1>
}

// CHECK-LABEL: @clamp
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
// CHECK: stablehlo.compare GT
// CHECK: stablehlo.select
// CHECK: stablehlo.compare LT
// CHECK: stablehlo.select
func.func @clamp(%l: tensor<complex<f32>>, %a: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.clamp %l, %a, %a : (tensor<complex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
