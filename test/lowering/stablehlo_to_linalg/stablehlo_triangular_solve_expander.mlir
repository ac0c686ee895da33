// RUN: fp8-opt %s --stablehlo-triangular-solve-expander | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: triangular_solve
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [2] x [1]
// CHECK: stablehlo.divide
func.func @main(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
    : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
