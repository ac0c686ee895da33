// RUN: fp8-opt %s --stablehlo-complex-bitcast-expander | filecheck %s

// CHECK-LABEL: @same
// CHECK-NEXT:    return %arg0
func.func @same(%a: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %0 = stablehlo.bitcast_convert %a : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// CHECK-LABEL: @to_words
// CHECK:         %[[RE:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<3xf64>) -> tensor<3x2xf32>
// CHECK:         %[[IM:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<3xf64>) -> tensor<3x2xf32>
// CHECK:         %[[BOTH:.*]] = stablehlo.concatenate
// CHECK:         stablehlo.slice %[[BOTH]] [0:3, 0:2, 0:1]
// CHECK:         stablehlo.slice %[[BOTH]] [0:3, 0:2, 1:2]
// CHECK:         stablehlo.complex {{.*}} : tensor<3x2xcomplex<f32>>
func.func @to_words(%a: tensor<3xcomplex<f64>>) -> tensor<3x2xcomplex<f32>> {
  %0 = stablehlo.bitcast_convert %a : (tensor<3xcomplex<f64>>) -> tensor<3x2xcomplex<f32>>
  return %0 : tensor<3x2xcomplex<f32>>
}

// CHECK-LABEL: @from_words
// CHECK:         %[[WORDS:.*]] = stablehlo.concatenate {{.*}} -> tensor<2x2xf32>
// CHECK:         stablehlo.bitcast_convert %[[WORDS]] : (tensor<2x2xf32>) -> tensor<2xf64>
// CHECK:         stablehlo.complex {{.*}} : tensor<complex<f64>>
func.func @from_words(%a: tensor<2xcomplex<f32>>) -> tensor<complex<f64>> {
  %0 = stablehlo.bitcast_convert %a : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>
  return %0 : tensor<complex<f64>>
}

// Real numbers are left alone.

// CHECK-LABEL: @real
// CHECK-NEXT:    stablehlo.bitcast_convert %arg0
// CHECK-NEXT:    return
func.func @real(%a: tensor<2xf32>) -> tensor<f64> {
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}
