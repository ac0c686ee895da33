// RUN: fp8-opt %s --split-input-file --stablehlo-update-slices-in-place | filecheck %s

// What lax.scan makes: xs is carried unchanged, ys starts as zeros. The row is written into the whole.

// CHECK-LABEL: func.func @scan(
// CHECK-SAME:    %[[XS:[a-z0-9]+]]: tensor<3x16x8xf32>, %[[ROW:[a-z0-9]+]]: tensor<1x8xf32>, %[[AT:[a-z0-9]+]]: tensor<i32>)
// CHECK:         stablehlo.while(%[[I:.*]] = %{{.*}}, %[[YS:.*]] = %[[XS]]) : tensor<i32>, tensor<3x16x8xf32>
// CHECK:         %[[R:.*]] = stablehlo.reshape %[[ROW]] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
// CHECK:         %[[NEW:.*]] = stablehlo.dynamic_update_slice %[[YS]], %[[R]], %[[I]], %[[AT]], %{{.*}}
// CHECK-NOT:     stablehlo.dynamic_update_slice
// CHECK:         stablehlo.return %{{.*}}, %[[NEW]]
func.func @scan(%xs: tensor<3x16x8xf32>, %row: tensor<1x8xf32>, %at: tensor<i32>) -> tensor<3x16x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ys = stablehlo.constant dense<0.0> : tensor<3x16x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %x = %xs, %y = %ys) : tensor<i32>, tensor<3x16x8xf32>, tensor<3x16x8xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 16, 8] : (tensor<3x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x16x8xf32>) -> tensor<16x8xf32>
    %3 = stablehlo.dynamic_update_slice %2, %row, %at, %zero : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<1x16x8xf32>
    %5 = stablehlo.dynamic_update_slice %y, %4, %i, %zero, %zero : (tensor<3x16x8xf32>, tensor<1x16x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x16x8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %x, %5 : tensor<i32>, tensor<3x16x8xf32>, tensor<3x16x8xf32>
  }
  return %0#2 : tensor<3x16x8xf32>
}

// -----

// Two of three slices are written: the last one of the result is zero.

// CHECK-LABEL: func.func @fewer(
// CHECK:         stablehlo.while({{.*}} = %arg0, {{.*}} = %cst) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
func.func @fewer(%xs: tensor<3x8xf32>, %row: tensor<1x2xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ys = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %x = %xs, %y = %ys) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.dynamic_update_slice %1, %row, %zero, %zero : (tensor<1x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.dynamic_update_slice %y, %2, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %x, %3 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}

// -----

// Another slice is read too, which may be one that is written already.

// CHECK-LABEL: func.func @reads_others(
// CHECK:         stablehlo.while({{.*}} = %arg0, {{.*}} = %cst) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
func.func @reads_others(%xs: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ys = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %0:3 = stablehlo.while(%i = %zero, %x = %xs, %y = %ys) : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %first = stablehlo.slice %x [0:1, 0:2] : (tensor<3x8xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.dynamic_update_slice %1, %first, %zero, %zero : (tensor<1x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %3 = stablehlo.dynamic_update_slice %y, %2, %i, %zero : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %x, %3 : tensor<i32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %0#2 : tensor<3x8xf32>
}
