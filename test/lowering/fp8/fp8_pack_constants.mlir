// RUN: fp8-opt %s --fp8-pack-constants=min-size=4 | filecheck %s
// RUN: fp8-opt %s --pass-pipeline='builtin.module(fp8-pack-constants{min-size=4 of-products=true})' | filecheck %s --check-prefix=DOTS

// CHECK-LABEL: func.func @f4(
// CHECK:         %[[C:.*]] = stablehlo.constant dense<{{\[\[}}33, 67], [245, 14]]> : tensor<2x2xui8>
// CHECK-NEXT:    fp8.unpack{{.*}}(%[[C]])
// DOTS-LABEL: func.func @f4(
// DOTS-NOT:     fp8.unpack
func.func @f4() -> tensor<2x4xf4E2M1FN> {
  %0 = stablehlo.constant dense<[[0.5, 1.0, 1.5, 2.0], [3.0, -6.0, -4.0, 0.0]]> : tensor<2x4xf4E2M1FN>
  return %0 : tensor<2x4xf4E2M1FN>
}

// CHECK-LABEL: func.func @product(
// CHECK:         stablehlo.constant {{.*}} : tensor<1x3xui8>
// DOTS-LABEL: func.func @product(
// DOTS:         fp8.unpack
func.func @product(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = stablehlo.constant dense<[[0.5, 1.0, 1.5, 2.0]]> : tensor<1x4xf6E2M3FN>
  %1 = stablehlo.convert %0 : (tensor<1x4xf6E2M3FN>) -> tensor<1x4xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}

// Rows that are no whole bytes, splats and small ones stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     fp8.unpack
func.func @others() -> (tensor<2x3xf4E2M1FN>, tensor<8xf4E2M1FN>, tensor<2xf4E2M1FN>) {
  %0 = stablehlo.constant dense<[[0.5, 1.0, 1.5], [3.0, -6.0, -4.0]]> : tensor<2x3xf4E2M1FN>
  %1 = stablehlo.constant dense<1.0> : tensor<8xf4E2M1FN>
  %2 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf4E2M1FN>
  return %0, %1, %2 : tensor<2x3xf4E2M1FN>, tensor<8xf4E2M1FN>, tensor<2xf4E2M1FN>
}
