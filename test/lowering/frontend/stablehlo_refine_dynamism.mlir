// RUN: fp8-opt %s --stablehlo-refine-dynamism --split-input-file --verify-diagnostics | FileCheck %s

// A call's shapes follow from those of its operands.
// CHECK-LABEL: func.func @main(
// CHECK: call @double({{.*}}) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: func.func private @double(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: stablehlo.broadcast_in_dim {{.*}} -> tensor<4x3xf32>
// CHECK-NOT: get_dimension_size
func.func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.convert %arg0 : (tensor<4x3xf32>) -> tensor<?x3xf32>
  %1 = call @double(%0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = stablehlo.convert %1 : (tensor<?x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}
func.func private @double(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.constant dense<3> : tensor<1xi32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = stablehlo.constant dense<2.0> : tensor<f32>
  %5 = stablehlo.dynamic_broadcast_in_dim %4, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  %6 = stablehlo.multiply %arg0, %5 : tensor<?x3xf32>
  return %6 : tensor<?x3xf32>
}

// -----

// The only public function is the entry, whatever its name.
// CHECK-LABEL: func.func @entry(
// CHECK: stablehlo.reshape
// CHECK: stablehlo.iota dim = 0 : tensor<5xi32>
// CHECK-NOT: shape_assertion
func.func @entry(%arg0: tensor<4x3xf32>) -> (tensor<12xf32>, tensor<5xi32>) {
  %0 = stablehlo.constant dense<12> : tensor<1xi64>
  %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<4x3xf32>, tensor<1xi64>) -> tensor<12xf32>
  %2 = call @five() : () -> tensor<1xi64>
  %3 = stablehlo.dynamic_iota %2, dim = 0 : (tensor<1xi64>) -> tensor<5xi32>
  %4 = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%4) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return %1, %3 : tensor<12xf32>, tensor<5xi32>
}
func.func private @five() -> tensor<1xi64> {
  %0 = stablehlo.constant dense<5> : tensor<1xi64>
  return %0 : tensor<1xi64>
}

// -----

// Left as it is: the caller does not say which sizes.
// CHECK-LABEL: func.func @open(
// CHECK: stablehlo.abs %arg0 : tensor<?xf32>
func.func @open(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.abs %arg0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The result type tells the size, whatever data does.
// CHECK-LABEL: func.func @of_data(
// CHECK: stablehlo.reshape %arg0 : (tensor<6xf32>) -> tensor<3x2xf32>
func.func @of_data(%arg0: tensor<6xf32>, %arg1: tensor<2xi64>) -> tensor<3x2xf32> {
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<6xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Sizes in floats, as PyTorch's arange has them, are evaluated too.
// CHECK-LABEL: func.func @of_floats(
// CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
func.func @of_floats() -> tensor<?xi32> {
  %0 = stablehlo.constant dense<[7.0]> : tensor<1xf64>
  %1 = stablehlo.constant dense<[2.0]> : tensor<1xf64>
  %2 = stablehlo.divide %0, %1 : tensor<1xf64>
  %3 = stablehlo.ceil %2 : tensor<1xf64>
  %4 = stablehlo.convert %3 : (tensor<1xf64>) -> tensor<1xi64>
  %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  return %5 : tensor<?xi32>
}

// -----

// The sum of two truth values is true where either is, in sizes too.
// CHECK-LABEL: func.func @of_truth(
// CHECK: stablehlo.iota dim = 0 : tensor<1xi32>
func.func @of_truth() -> tensor<?xi32> {
  %0 = stablehlo.constant dense<true> : tensor<1xi1>
  %1 = stablehlo.add %0, %0 : tensor<1xi1>
  %2 = stablehlo.convert %1 : (tensor<1xi1>) -> tensor<1xi64>
  %3 = stablehlo.dynamic_iota %2, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  return %3 : tensor<?xi32>
}

// -----

func.func @contradicted() -> tensor<5xi32> {
  %0 = stablehlo.constant dense<[6.0]> : tensor<1xf64>
  %1 = stablehlo.convert %0 : (tensor<1xf64>) -> tensor<1xi64>
  // expected-error@+1 {{output shape [6] is incompatible with return type of operation 'tensor<5xi32>'}}
  %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi64>) -> tensor<5xi32>
  return %2 : tensor<5xi32>
}

// -----

func.func @resized(%arg0: tensor<5xf32>, %arg1: tensor<i32>) -> tensor<5xf32> {
  // expected-error@+1 {{'stablehlo.set_dimension_size' has sizes that are known at run time alone: compute them of constants}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<5xf32>, tensor<i32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @asserted_of_data(%arg0: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.custom_call' asserts what is known at run time alone ('no'): nothing stops native code, so leave it out}}
  stablehlo.custom_call @shape_assertion(%arg0) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @inside(%arg0: tensor<1xi64>) -> tensor<i64> {
  // expected-error@+1 {{'stablehlo.dynamic_iota' is of tensor<?xi64>, whose sizes do not follow from the arguments' shapes: compute them of constants and of sizes}}
  %0 = stablehlo.dynamic_iota %arg0, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  %1 = stablehlo.constant dense<0> : tensor<i64>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<?xi64>, tensor<i64>) -> tensor<i64>
  return %2 : tensor<i64>
}

// -----

func.func @bounded(%arg0: tensor<5xf32>, %arg1: tensor<i32>) -> tensor<5xf32> {
  // expected-error@+1 {{'stablehlo.set_dimension_size' is of tensor<?xf32, #stablehlo.bounds<5>>, which is bounded: declare the size itself}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>
  %1 = stablehlo.convert %0 : (tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

func.func @asserted() {
  %0 = stablehlo.constant dense<false> : tensor<i1>
  // expected-error@+1 {{Input must be square}}
  stablehlo.custom_call @shape_assertion(%0) {error_message = "Input must be square", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @asserted_with_sizes() {
  %0 = stablehlo.constant dense<false> : tensor<i1>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  %2 = stablehlo.constant dense<-4> : tensor<i64>
  // expected-error@+1 {{found 3 and -4, not {2}}}
  stablehlo.custom_call @shape_assertion(%0, %1, %2) {error_message = "found {0} and {1}, not {2}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i64>) -> ()
  return
}
