// RUN: fp8-opt %s --stablehlo-inline-map --split-input-file --verify-diagnostics | filecheck %s

// Elementwise ops on whole tensors; constants and values from outside are broadcast.

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x3xf8E4M3FN>, %[[Y:[^:]*]]: tensor<2x3xf8E4M3FN>, %[[S:[^:]*]]: tensor<f8E4M3FN>)
// CHECK-NEXT:    %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<f8E4M3FN>
// CHECK-NEXT:    %[[TWOS:.*]] = stablehlo.broadcast_in_dim %[[TWO]], dims = [] : (tensor<f8E4M3FN>) -> tensor<2x3xf8E4M3FN>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.multiply %[[X]], %[[TWOS]] : tensor<2x3xf8E4M3FN>
// CHECK-NEXT:    %[[P:.*]] = stablehlo.compare LT, %[[A]], %[[Y]] : {{.*}} -> tensor<2x3xi1>
// CHECK-NEXT:    %[[SS:.*]] = stablehlo.broadcast_in_dim %[[S]]
// CHECK-NEXT:    %[[R:.*]] = stablehlo.select %[[P]], %[[SS]], %[[Y]]
// CHECK-NEXT:    return %[[R]]
func.func @elementwise(%x: tensor<2x3xf8E4M3FN>, %y: tensor<2x3xf8E4M3FN>, %s: tensor<f8E4M3FN>) -> tensor<2x3xf8E4M3FN> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
    %two = stablehlo.constant dense<2.0> : tensor<f8E4M3FN>
    %1 = stablehlo.multiply %a, %two : tensor<f8E4M3FN>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
    %3 = stablehlo.select %2, %s, %b : tensor<i1>, tensor<f8E4M3FN>
    stablehlo.return %3 : tensor<f8E4M3FN>
  }) : (tensor<2x3xf8E4M3FN>, tensor<2x3xf8E4M3FN>) -> tensor<2x3xf8E4M3FN>
  return %0 : tensor<2x3xf8E4M3FN>
}

// -----

// Any other computation element by element.

// CHECK-LABEL: func.func @loops(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c2 step %c1
// CHECK-NEXT:      scf.for %[[J:.*]] = %c0 to %c3 step %c1 iter_args(%[[R:.*]] = %{{.*}})
// CHECK-NEXT:        %[[X:.*]] = tensor.extract %arg0[%[[I]], %[[J]]] : tensor<2x3xi32>
// CHECK-NEXT:        %[[A:.*]] = tensor.from_elements %[[X]] : tensor<i32>
// CHECK-NEXT:        %[[B:.*]] = "stablehlo.case"(%[[A]])
// CHECK:             %[[E:.*]] = tensor.extract %[[B]][] : tensor<f32>
// CHECK-NEXT:        tensor.insert %[[E]] into %[[R]][%[[I]], %[[J]]] : tensor<2x3xf32>
func.func @loops(%x: tensor<2x3xi32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>):
    %1 = "stablehlo.case"(%a) ({
      stablehlo.return %y : tensor<f32>
    }, {
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      stablehlo.return %two : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x3xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reduction_of_no_dimension(
// CHECK-NEXT:    %[[INIT:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i1>) -> tensor<4xi1>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.or %[[INIT]], %arg0
// CHECK-NEXT:    return %[[R]]
func.func @reduction_of_no_dimension(%x: tensor<4xi1>, %init: tensor<i1>) -> tensor<4xi1> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.or across dimensions = [] : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.map' has a value of dynamic shape, tensor<?xf32>, and only static shapes compile: specialize the shapes first (stablehlo-refine-shapes)}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
