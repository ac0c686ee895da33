// RUN: fp8-opt %s --stablehlo-cbrt-expander | filecheck %s

// CHECK-LABEL: @complex
// CHECK: %[[LENGTH:.*]] = stablehlo.abs %arg0 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
// CHECK-NEXT: stablehlo.cbrt %[[LENGTH]] : tensor<3xf64>
// CHECK-NEXT: %[[ANGLE:.*]] = stablehlo.atan2
// CHECK-NEXT: stablehlo.divide %[[ANGLE]]
// CHECK: stablehlo.complex
func.func @complex(%a: tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>> {
  %0 = stablehlo.cbrt %a : tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
}

// CHECK-LABEL: @real
// CHECK-NEXT: stablehlo.cbrt %arg0 : tensor<3xf32>
// CHECK-NEXT: return
func.func @real(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.cbrt %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
