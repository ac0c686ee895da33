// RUN: fp8-opt %s --stablehlo-fft-expander | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.fft
// CHECK: stablehlo.dot_general {{.*}} : (tensor<6x6xf32>, tensor<2x6xf32>) -> tensor<6x2xf32>
// CHECK: stablehlo.slice {{.*}} : (tensor<2x6xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.complex {{.*}} : tensor<2x4xcomplex<f32>>
func.func @main(%a: tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}
