// RUN: fp8-opt --split-input-file --verify-diagnostics --stablehlo-reduce-to-scf %s | filecheck %s

// The accumulator is a loop-carried scalar; places outside the operand are the initial value.
// CHECK-LABEL: func.func @pooling(
// CHECK:       %[[INIT:.*]] = tensor.extract %arg1[] : tensor<f32>
// CHECK:       %[[PADDED:.*]] = stablehlo.pad %arg0, %arg1, low = [1], high = [0], interior = [0]
// CHECK:       scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[RESULT:.*]] = %{{.*}}) -> (tensor<4xf32>) {
// CHECK:         %[[MAX:.*]] = scf.for %[[W:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %[[INIT]]) -> (f32) {
// CHECK:           %[[START:.*]] = arith.muli %[[P]], %{{.*}} : index
// CHECK-NEXT:      %[[AT:.*]] = arith.addi %[[START]], %[[W]] : index
// CHECK-NEXT:      %[[X:.*]] = tensor.extract %[[PADDED]][%[[AT]]] : tensor<9xf32>
// CHECK-NEXT:      %[[A:.*]] = tensor.from_elements %[[SUM]]
// CHECK-NEXT:      %[[B:.*]] = tensor.from_elements %[[X]]
// CHECK-NEXT:      %[[M:.*]] = stablehlo.maximum %[[A]], %[[B]] : tensor<f32>
// CHECK-NEXT:      %[[V:.*]] = tensor.extract %[[M]][] : tensor<f32>
// CHECK-NEXT:      scf.yield %[[V]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    tensor.insert %[[MAX]] into %[[RESULT]][%[[P]]]
func.func @pooling(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A cumulative sum is one loop.
// CHECK-LABEL: func.func @cumsum(
// CHECK:       scf.for
// CHECK-NOT:   scf.for
// CHECK:         stablehlo.add
// CHECK:         scf.yield %{{.*}}, %{{.*}} : f32, tensor<8xf32>
// CHECK:       return
func.func @cumsum(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @reductions(
// CHECK:       stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add
// CHECK-NOT:   stablehlo.reduce(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           "stablehlo.if"
func.func @reductions(%x: tensor<4x8xf32>, %i: tensor<f32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = "stablehlo.if"(%p) ({
        stablehlo.return %a : tensor<f32>
      }, {
        stablehlo.return %b : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %c : tensor<f32>
    }
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>, %i: tensor<f32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.reduce_window' has a value of dynamic shape, tensor<?xf32>, and only static shapes compile}}
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
