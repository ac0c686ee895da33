// RUN: fp8-opt %s --composite-to-ragged-dot | filecheck %s

// As JAX exports it for tpu and cuda.
// CHECK-LABEL: func.func @main(
// CHECK:         "chlo.ragged_dot"(%{{.*}}) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
// What another version, or other attributes, mean is not known here.
// CHECK:         stablehlo.composite "chlo.ragged_dot" {{.*}}version = 2
// CHECK:         stablehlo.composite "chlo.ragged_dot" {{.*}}another
// CHECK:         stablehlo.composite "chlo.ragged_dot" {{.*}}dense<3>
func.func @main(%a: tensor<8x4xf32>, %b: tensor<2x4x6xf32>, %n: tensor<2xi32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.composite "chlo.ragged_dot" %a, %b, %n {composite_attributes = {precision_config = ["DEFAULT", "HIGH"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @impl, version = 1 : i32} : (tensor<8x4xf32>, tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<8x6xf32>
  %1 = stablehlo.composite "chlo.ragged_dot" %a, %b, %n {composite_attributes = {ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @impl, version = 2 : i32} : (tensor<8x4xf32>, tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<8x6xf32>
  %2 = stablehlo.composite "chlo.ragged_dot" %a, %b, %n {composite_attributes = {another = 1 : i32, ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @impl, version = 1 : i32} : (tensor<8x4xf32>, tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<8x6xf32>
  %3 = stablehlo.composite "chlo.ragged_dot" %a, %b, %n {composite_attributes = {ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<3> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @impl, version = 1 : i32} : (tensor<8x4xf32>, tensor<2x4x6xf32>, tensor<2xi32>) -> tensor<8x6xf32>
  return %0, %1, %2, %3 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}
func.func private @impl(%a: tensor<8x4xf32>, %b: tensor<2x4x6xf32>, %n: tensor<2xi32>) -> tensor<8x6xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
