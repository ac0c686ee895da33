// RUN: fp8-opt %s --one-shot-bufferize-or-copy --split-input-file | filecheck %s

// Without a conflict, everything is in place.

// CHECK-LABEL: func.func @kept(
// CHECK-NOT:     memref.alloc
// CHECK:         memref.copy %arg1, %arg0
// CHECK-NEXT:    return %arg0
func.func @kept(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = bufferization.materialize_in_destination %b in %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A read-after-write conflict on `%a`: upstream's pass alone refuses it.

// CHECK-LABEL: func.func @read_after(
// CHECK:         %[[COPY:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %arg1, %[[COPY]]
// CHECK-NEXT:    %[[READ:.*]] = memref.load %arg0
// CHECK-NEXT:    return %[[COPY]], %[[READ]]
func.func @read_after(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  %c = arith.constant 0 : index
  %0 = bufferization.materialize_in_destination %b in %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tensor.extract %a[%c] : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, f32
}
