// RUN: fp8-opt --split-input-file --verify-diagnostics --stablehlo-select-and-scatter-to-scf %s | filecheck %s

// The place that `select` leaves of a window is carried, and its element of the result updated.
// CHECK-LABEL: func.func @gradient(
// CHECK:       %[[ZERO:.*]] = stablehlo.broadcast_in_dim %arg2
// CHECK:       scf.for %[[P:.*]] = %{{.*}} iter_args(%[[RESULT:.*]] = %[[ZERO]]) -> (tensor<8xf8E5M2>) {
// CHECK:         %[[FIRST:.*]] = tensor.extract %arg0
// CHECK:         %[[CHOSEN:.*]]:2 = scf.for %{{.*}} iter_args(%[[V:.*]] = %[[FIRST]], %[[I:.*]] = %{{.*}}) -> (f8E5M2, index) {
// CHECK:           %[[OTHER:.*]] = tensor.extract %arg0
// CHECK:           stablehlo.compare  GE
// CHECK:           %[[STAYS:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK-NEXT:      %[[V2:.*]] = arith.select %[[STAYS]], %[[V]], %[[OTHER]] : f8E5M2
// CHECK-NEXT:      %[[I2:.*]] = arith.select %[[STAYS]], %[[I]], %{{.*}} : index
// CHECK-NEXT:      scf.yield %[[V2]], %[[I2]] : f8E5M2, index
// CHECK-NEXT:    }
// CHECK:         tensor.extract %arg1[%[[P]]]
// CHECK:         stablehlo.add
// CHECK:         tensor.insert %{{.*}} into %[[RESULT]][%[[CHOSEN]]#1]
func.func @gradient(%x: tensor<8xf8E5M2>, %g: tensor<4xf8E5M2>, %zero: tensor<f8E5M2>) -> tensor<8xf8E5M2> {
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f8E5M2>, tensor<f8E5M2>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    %s = stablehlo.add %a, %b : tensor<f8E5M2>
    stablehlo.return %s : tensor<f8E5M2>
  }) : (tensor<8xf8E5M2>, tensor<4xf8E5M2>, tensor<f8E5M2>) -> tensor<8xf8E5M2>
  return %0 : tensor<8xf8E5M2>
}

// -----

func.func @dynamic(%x: tensor<?xf32>, %g: tensor<4xf32>, %zero: tensor<f32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.select_and_scatter' has a value of dynamic shape, tensor<?xf32>, and only static shapes compile}}
  %0 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?xf32>, tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
