// RUN: fp8-opt %s --linalg-detensorize | filecheck %s

#scalar = affine_map<() -> ()>
#vector = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Inside a loop, and only where every operand is a scalar or of rank 0.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<f32>, %[[Y:[^:]*]]: tensor<1xf32>, %[[S:[^:]*]]: f32
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:           %[[A0:.*]] = tensor.extract %[[A]][] : tensor<f32>
// CHECK-NEXT:      tensor.extract
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[A0]], %[[S]] : f32
// CHECK-NEXT:      %[[NEXT:.*]] = tensor.from_elements %[[SUM]] : tensor<f32>
// CHECK-NEXT:      %[[VECTOR:.*]] = linalg.generic
// CHECK:           scf.yield %[[NEXT]], %[[VECTOR]]
// CHECK:         linalg.generic
func.func @loop(%x: tensor<f32>, %y: tensor<1xf32>, %s: f32, %n: index) -> (tensor<f32>, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<f32>, tensor<1xf32>) {
    %0 = linalg.generic {indexing_maps = [#scalar, #scalar, #scalar], iterator_types = []}
        ins(%a, %s : tensor<f32>, f32) outs(%empty : tensor<f32>) {
    ^bb0(%p: f32, %q: f32, %out: f32):
      %sum = arith.addf %p, %q : f32
      linalg.yield %sum : f32
    } -> tensor<f32>
    %1 = linalg.generic {indexing_maps = [#none, #vector], iterator_types = ["parallel"]}
        ins(%0 : tensor<f32>) outs(%b : tensor<1xf32>) {
    ^bb0(%p: f32, %out: f32):
      linalg.yield %p : f32
    } -> tensor<1xf32>
    scf.yield %0, %1 : tensor<f32>, tensor<1xf32>
  }
  %2 = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []}
      ins(%r#0 : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%p: f32, %out: f32):
    %m = arith.mulf %p, %p : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %2, %r#1 : tensor<f32>, tensor<1xf32>
}

// Outside of loops, where all uses are `tensor.extract`.
// CHECK-LABEL: func.func @extracted(
// CHECK-NOT:     linalg.generic
// CHECK:         %[[X0:.*]] = tensor.extract %arg0[] : tensor<f32>
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X0]], %[[X0]] : f32
// CHECK:         %[[TENSOR:.*]] = tensor.from_elements %[[SQUARE]] : tensor<f32>
// CHECK:         tensor.extract %[[TENSOR]][] : tensor<f32>
func.func @extracted(%x: tensor<f32>) -> f32 {
  %empty = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []}
      ins(%x : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%p: f32, %out: f32):
    %m = arith.mulf %p, %p : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  return %1 : f32
}
