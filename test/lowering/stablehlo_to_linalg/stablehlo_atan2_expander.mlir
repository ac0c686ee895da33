// RUN: fp8-opt %s --stablehlo-atan2-expander | filecheck %s

// CHECK-LABEL: @single
// CHECK: stablehlo.atan2 {{.*}} : tensor<3xcomplex<f64>>
// CHECK: stablehlo.convert {{.*}} : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f32>>
func.func @single(%a: tensor<3xcomplex<f32>>, %b: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.atan2 %a, %b : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// CHECK-LABEL: @real
// CHECK-NEXT: stablehlo.atan2 %arg0, %arg1 : tensor<3xf32>
func.func @real(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.atan2 %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}
