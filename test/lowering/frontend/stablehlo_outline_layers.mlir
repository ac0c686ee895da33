// RUN: fp8-opt %s --stablehlo-outline-layers=min-size=2 --split-input-file | filecheck %s
// RUN: fp8-opt %s --stablehlo-outline-layers --split-input-file | filecheck %s --check-prefix=SMALL

// SMALL-NOT: call @

// What differs is an argument, and what all take; constants and broadcasts are inside.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME:    %[[X:arg0]]: tensor<4x4xf32>, %[[B:arg1]]: tensor<4xf32>, %[[V:arg2]]: tensor<4x4xf32>, %[[W:arg3]]: tensor<4x4xf32>)
// CHECK-NEXT:    %[[Y:.*]] = call @layer_0(%[[X]], %[[W]], %[[B]]) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[Z:.*]] = call @layer_0(%[[Y]], %[[V]], %[[B]])
// CHECK-NEXT:    %[[Q:.*]] = call @layer_0(%[[Z]], %[[W]], %[[B]])
// CHECK-NEXT:    return %[[Q]] : tensor<4x4xf32>
// CHECK:       func.func private @layer_0(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4xf32>) -> tensor<4x4xf32>
// CHECK-SAME:    attributes {mlir_fp8.layer, no_inline}
// CHECK:         %[[D:.*]] = stablehlo.dot_general %arg0, %arg1
// CHECK:         %[[S:.*]] = stablehlo.broadcast_in_dim %arg2
// CHECK:         %[[A:.*]] = stablehlo.add %[[D]], %[[S]]
// CHECK:         %[[C:.*]] = stablehlo.constant dense<2.0
// CHECK:         %[[M:.*]] = stablehlo.multiply %[[A]], %[[C]]
// CHECK-NEXT:    return %[[M]] : tensor<4x4xf32>
func.func @layers(%x: tensor<4x4xf32>, %b: tensor<4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4x4xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("first")
  %1 = stablehlo.add %0, %bb : tensor<4x4xf32>
  %2 = stablehlo.multiply %1, %c : tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("second")
  %4 = stablehlo.add %3, %bb : tensor<4x4xf32>
  %5 = stablehlo.multiply %4, %c : tensor<4x4xf32>
  %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = stablehlo.add %6, %bb : tensor<4x4xf32>
  %8 = stablehlo.multiply %7, %c : tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}

// -----

// What two operands share in the first layer, and not in the second, are two arguments.
// CHECK-LABEL: func.func @shared_once(
// CHECK-NEXT:    %[[Y:.*]] = call @layer_0(%arg0, %arg1, %arg1)
// CHECK-NEXT:    call @layer_0(%[[Y]], %arg1, %arg2)
// CHECK:       func.func private @layer_0(
// CHECK:         stablehlo.dot_general %arg0, %arg1
// CHECK-NEXT:    stablehlo.add {{.*}}, %arg2
func.func @shared_once(%x: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %0, %v : tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.add %2, %w : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A result that is used of one layer alone is given by all.
// CHECK-LABEL: func.func @more_results(
// CHECK-NEXT:    %[[Y:.*]]:2 = call @layer_0(%arg0, %arg1)
// CHECK-NEXT:    %[[Z:.*]]:2 = call @layer_0(%[[Y]]#1, %arg1)
// CHECK-NEXT:    return %[[Y]]#0, %[[Z]]#1
func.func @more_results(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.tanh %0 : tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.tanh %2 : tensor<4x4xf32>
  return %0, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Slices at places of their own, and indices, are arguments; what is also 0 in each layer is not.
// CHECK-LABEL: func.func @stacked(
// CHECK-DAG:     %[[I0:.*]] = stablehlo.constant dense<0> : tensor<i64>
// CHECK-DAG:     %[[I1:.*]] = stablehlo.constant dense<1> : tensor<i64>
// CHECK-DAG:     %[[C0:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG:     %[[C1:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK:         %[[Y:.*]]:2 = call @layer_0(%arg1, %[[I0]], %arg0, %arg2, %[[C0]])
// CHECK-NEXT:    %[[Z:.*]]:2 = call @layer_0(%arg1, %[[I1]], %[[Y]]#0, %[[Y]]#1, %[[C1]])
// CHECK-NEXT:    return %[[Z]]#0, %[[Z]]#1
// CHECK:       func.func private @layer_0(
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i64>
// CHECK:         stablehlo.dynamic_slice %arg0, %arg1, %[[ZERO]], %[[ZERO]], sizes = [1, 4, 4]
// CHECK:         %[[SAME:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK:         stablehlo.dynamic_update_slice %arg3, {{.*}}, %arg4, %[[SAME]], %[[SAME]]
func.func @stacked(%x: tensor<4x4xf32>, %w: tensor<2x4x4xf32>, %cache: tensor<2x4x4xf32>) -> (tensor<4x4xf32>, tensor<2x4x4xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.slice %w [0:1, 0:4, 0:4] : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  %4 = stablehlo.dynamic_update_slice %cache, %3, %c0, %c0, %c0 : (tensor<2x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x4xf32>
  %5 = stablehlo.slice %w [1:2, 0:4, 0:4] : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
  %6 = stablehlo.reshape %5 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  %7 = stablehlo.dot_general %2, %6, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = stablehlo.reshape %7 : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  %9 = stablehlo.dynamic_update_slice %4, %8, %c1, %c0, %c0 : (tensor<2x4x4xf32>, tensor<1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x4xf32>
  return %7, %9 : tensor<4x4xf32>, tensor<2x4x4xf32>
}

// -----

// Other constants are to be equal.
// CHECK-LABEL: func.func @other_constants(
// CHECK-NOT:     call
func.func @other_constants(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<4x4xf32>
  %b = stablehlo.constant dense<3.0> : tensor<4x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.multiply %0, %a : tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.multiply %2, %b : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Factors in f32 may differ, whether their broadcast is a factor or they are; equal ones are inside.
// CHECK-LABEL: func.func @factors(
// CHECK:         call @layer_0({{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>)
// CHECK:         call @layer_0({{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>)
// CHECK-LABEL: func.func private @layer_0(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[S:.*]]: tensor<f32>)
// CHECK:         %[[SAME:.*]] = stablehlo.constant dense<5.0
// CHECK:         %[[P:.*]] = stablehlo.multiply %[[S]], %[[SAME]] : tensor<f32>
// CHECK:         stablehlo.broadcast_in_dim %[[P]]
func.func @factors(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %c = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s0 = stablehlo.multiply %a, %c : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %s0, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.divide %0, %1 : tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s1 = stablehlo.multiply %b, %c : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %s1, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %5 = stablehlo.divide %3, %4 : tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// What is no factor is to be equal: a sum with another number, too.
// CHECK-LABEL: func.func @other_summands(
// CHECK-NOT:     call
func.func @other_summands(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %0, %s0 : tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s1 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %3 = stablehlo.add %2, %s1 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Other operands of the same ops are no equal layers.
// CHECK-LABEL: func.func @other_structure(
// CHECK-NOT:     call
func.func @other_structure(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.multiply %2, %w : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Elementwise ops would be one loop with their neighbours; random numbers differ by their place.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NOT:     call
func.func @left_alone(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %a: tensor<f32>, %s: tensor<2xi64>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.tanh %x : tensor<4x4xf32>
  %1 = stablehlo.add %0, %w : tensor<4x4xf32>
  %2 = stablehlo.tanh %1 : tensor<4x4xf32>
  %3 = stablehlo.add %2, %w : tensor<4x4xf32>
  %4 = "stablehlo.rng"(%a, %a, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x4xf32>
  %5 = stablehlo.dot_general %4, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "stablehlo.rng"(%a, %a, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x4xf32>
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = stablehlo.add %5, %7 : tensor<4x4xf32>
  return %3, %8 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Regions are compared too, with what they take from outside.
// CHECK-LABEL: func.func @regions(
// CHECK:         %[[Y:.*]] = call @layer_0(%arg0, %arg1)
// CHECK-NEXT:    call @layer_0(%[[Y]], %arg2)
// CHECK:       func.func private @layer_0(
// CHECK:         stablehlo.dot_general %{{.*}}, %arg1
func.func @regions(%x: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c2, %y = %x) : tensor<i32>, tensor<4x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %d = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %i, %d : tensor<i32>, tensor<4x4xf32>
    }
  %1 = stablehlo.tanh %0#1 : tensor<4x4xf32>
  %2:2 = stablehlo.while(%i = %c2, %y = %1) : tensor<i32>, tensor<4x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %d = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %i, %d : tensor<i32>, tensor<4x4xf32>
    }
  %3 = stablehlo.tanh %2#1 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
