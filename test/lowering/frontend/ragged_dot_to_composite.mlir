// RUN: fp8-opt %s --ragged-dot-to-composite | filecheck %s

// CHECK:       func.func private @chlo.ragged_dot.impl(%{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<2x4x6xf32>, %{{.*}}: tensor<2xi32>) -> tensor<8x6xf32>
// CHECK:         stablehlo.dot_general
// CHECK-LABEL: func.func @main(
// CHECK:         stablehlo.composite "chlo.ragged_dot" %{{.*}}, %{{.*}}, %{{.*}} {composite_attributes = {precision_config = ["DEFAULT", "HIGH"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @chlo.ragged_dot.impl, version = 1 : i32}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<2x4x6xf32>, %n: tensor<2xi32>) -> tensor<8x6xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %n) {precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<8x4xf32>, tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
