// RUN: fp8-opt %s --stablehlo-flatten-signatures | FileCheck %s

!pair = tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<2xf32>, %arg1: tensor<i32>, %arg2: tensor<2xf32> {jax.arg = "b"}) -> (tensor<2xf32>, tensor<i32>)
// CHECK: %[[CALL:.*]]:2 = call @inner(%arg0, %arg1) : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
// CHECK-NEXT: %{{.*}} = stablehlo.create_token
// CHECK-NEXT: return %[[CALL]]#0, %[[CALL]]#1 : tensor<2xf32>, tensor<i32>
func.func @main(%arg0: !pair, %arg1: tensor<2xf32> {jax.arg = "b"}) -> !pair {
  %0 = call @inner(%arg0) : (!pair) -> !pair
  return %0 : !pair
}

// CHECK-LABEL: func.func private @inner(
// CHECK-SAME: %arg0: tensor<2xf32>, %arg1: tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
// CHECK: %[[NEGATED:.*]] = stablehlo.negate %arg0
// CHECK-NOT: stablehlo.tuple
// CHECK-NOT: get_tuple_element
// CHECK: return %[[NEGATED]], %arg1
func.func private @inner(%arg0: !pair) -> !pair {
  %0 = stablehlo.get_tuple_element %arg0[0] : (!pair) -> tensor<2xf32>
  %1 = stablehlo.get_tuple_element %arg0[1] : (!pair) -> tuple<tensor<i32>, !stablehlo.token>
  %2 = stablehlo.negate %0 : tensor<2xf32>
  %3 = stablehlo.tuple %2, %1 : !pair
  return %3 : !pair
}

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %arg0: tensor<2xf32>) -> tensor<2xf32>
func.func @plain(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
