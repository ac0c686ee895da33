// RUN: fp8-opt %s --carry-in-place | filecheck %s
// RUN: fp8-opt %s --protect-arguments --carry-in-place --eliminate-empty-tensors --empty-tensor-to-alloc-tensor --one-shot-bufferize=bufferize-function-boundaries --canonicalize --buffer-loop-hoisting --canonicalize | filecheck %s --check-prefix=BUFFER

#id = affine_map<(d0) -> (d0)>

// An in-place update needs no materialization, and copies nothing.

// CHECK-LABEL: func.func @update(
// CHECK-NOT:     materialize_in_destination
// BUFFER-LABEL: func.func @update(
// BUFFER:         memref.copy
// BUFFER-NEXT:    scf.while
// BUFFER-NOT:     memref.alloc
// BUFFER:         memref.copy %{{.*}}, %subview
// BUFFER-NOT:     memref.copy
func.func @update(%x: tensor<64xf32>, %u: tensor<4xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<64xf32>) -> (index, tensor<64xf32>) {
    %p = arith.cmpi slt, %i, %n : index
    scf.condition(%p) %i, %a : index, tensor<64xf32>
  } do {
  ^bb0(%i: index, %a: tensor<64xf32>):
    %b = tensor.insert_slice %u into %a[%i] [4] [1] : tensor<4xf32> into tensor<64xf32>
    %j = arith.addi %i, %c4 : index
    scf.yield %j, %b : index, tensor<64xf32>
  }
  return %r#1 : tensor<64xf32>
}

// An elementwise update reads and writes one buffer.

// CHECK-LABEL: func.func @elementwise(
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %arg0)
// CHECK:           %[[NEW:.*]] = linalg.generic
// CHECK:           %[[KEPT:.*]] = bufferization.materialize_in_destination %[[NEW]] in %[[A]]
// CHECK-NEXT:      scf.yield %[[KEPT]]
// BUFFER-LABEL: func.func @elementwise(
// BUFFER:         %[[A:.*]] = memref.alloc
// BUFFER:         scf.for
// BUFFER-NEXT:      linalg.generic {{.*}} ins(%[[A]] : memref<64xf32>) outs(%[[A]] : memref<64xf32>)
// BUFFER-NOT:     memref.copy
// BUFFER:         return
func.func @elementwise(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %empty = tensor.empty() : tensor<64xf32>
    %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
    ^bb0(%p: f32, %out: f32):
      %q = math.tanh %p : f32
      linalg.yield %q : f32
    } -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A shift of carried values is read before its destination is written; a swap takes one more copy.

// CHECK-LABEL: func.func @shift_and_swap(
// CHECK:         iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg1, %[[C:.*]] = %arg2, %[[D:.*]] = %arg3)
// CHECK-NEXT:      %[[B1:.*]] = bufferization.materialize_in_destination %[[A]] in %[[B]]
// CHECK-NEXT:      %[[A1:.*]] = bufferization.materialize_in_destination %arg0 in %[[A]]
// CHECK-NEXT:      %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[C]])
// CHECK-NEXT:      %[[C1:.*]] = bufferization.materialize_in_destination %[[D]] in %[[C]]
// CHECK-NEXT:      %[[D1:.*]] = bufferization.materialize_in_destination %[[COPY]] in %[[D]]
// CHECK-NEXT:      scf.yield %[[A1]], %[[B1]], %[[C1]], %[[D1]]
// BUFFER-LABEL: func.func @shift_and_swap(
// BUFFER:         scf.for
// BUFFER-NOT:     memref.alloc
// BUFFER:         return
func.func @shift_and_swap(%x: tensor<8xf32>, %y: tensor<8xf32>, %v: tensor<8xf32>, %w: tensor<8xf32>, %n: index)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %v, %d = %w)
      -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    scf.yield %x, %a, %d, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// In place through loops and branches, unless the tensor before the step is still read after it.

// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg1)
// CHECK-NOT:       materialize_in_destination
// CHECK:           %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK-NEXT:      %[[INNER:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[A]], %{{.*}} = %[[COPY]])
// CHECK-NOT:         materialize_in_destination
// CHECK:             scf.yield
// CHECK:           tensor.extract %[[B]]
// CHECK:           %[[B1:.*]] = bufferization.materialize_in_destination %[[INNER]]#1 in %[[B]]
// CHECK-NEXT:      scf.yield %{{.*}}, %[[B1]]
// BUFFER-LABEL: func.func @nested(
// BUFFER:         return
func.func @nested(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index, %p: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %q:2 = scf.for %j = %c0 to %n step %c1 iter_args(%c = %a, %d = %b) -> (tensor<8xf32>, tensor<8xf32>) {
      %old = tensor.extract %c[%i] : tensor<8xf32>
      %new = scf.if %p -> tensor<8xf32> {
        %0 = tensor.insert %old into %c[%j] : tensor<8xf32>
        scf.yield %0 : tensor<8xf32>
      } else {
        scf.yield %c : tensor<8xf32>
      }
      %1 = tensor.insert %old into %d[%j] : tensor<8xf32>
      scf.yield %new, %1 : tensor<8xf32>, tensor<8xf32>
    }
    %before = tensor.extract %b[%i] : tensor<8xf32>
    %s = tensor.insert %before into %q#0[%i] : tensor<8xf32>
    scf.yield %s, %q#1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Two carried `tensor.empty` do not share a buffer.

// CHECK-LABEL: func.func @two_empty(
// CHECK:         %[[A:.*]] = tensor.empty
// CHECK:         %[[B:.*]] = tensor.empty
// CHECK:         iter_args(%{{.*}} = %[[A]], %{{.*}} = %[[B]])
// BUFFER-LABEL: func.func @two_empty(
// BUFFER:         memref.alloc
// BUFFER-NEXT:    memref.alloc
// BUFFER:         scf.for
func.func @two_empty(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %empty, %b = %empty) -> (tensor<8xf32>, tensor<8xf32>) {
    %e = tensor.extract %x[%i] : tensor<8xf32>
    %c = tensor.insert %e into %a[%i] : tensor<8xf32>
    %d = tensor.insert %one into %b[%i] : tensor<8xf32>
    scf.yield %c, %d : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Values that the condition does not forward are carried too, its permutation is undone, and what it
// computes gets its own buffer.

// CHECK-LABEL: func.func @other_order(
// CHECK:         %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
// CHECK:         %[[R:.*]]:4 = scf.while (%[[A:.*]] = %arg0, %[[B:.*]] = %arg1, %[[C:.*]] = %[[OWN]])
// CHECK:           %[[HALF:.*]] = tensor.extract_slice %[[A]]
// CHECK:           %[[N:.*]] = tensor.extract %[[B]]
// CHECK:           %[[KEPT:.*]] = bufferization.materialize_in_destination %[[HALF]] in %[[C]]
// CHECK-NEXT:      scf.condition(%{{.*}}) %[[A]], %[[B]], %[[KEPT]], %[[N]]
// CHECK:         ^bb0(%[[A2:.*]]: tensor<8xf32>, %[[B2:.*]]: tensor<2xi32>, %[[C2:.*]]: tensor<4xf32>, %[[N2:.*]]: i32):
// CHECK:           tensor.insert_slice %[[C2]] into %[[A2]][4]
// CHECK:           tensor.insert %{{.*}} into %arg2[%{{.*}}] : tensor<2xi32>
// CHECK:           scf.yield %{{.*}}, %{{.*}}, %[[C2]]
// CHECK:         return %[[R]]#0, %arg2
// BUFFER-LABEL: func.func @other_order(
// BUFFER:         memref.alloc(){{.*}} : memref<4xf32>
// BUFFER:         scf.while
// BUFFER-NOT:     memref.alloc
// BUFFER:         return
func.func @other_order(%x: tensor<8xf32>, %y: tensor<2xi32>, %z: tensor<2xi32>, %most: i32) -> (tensor<8xf32>, tensor<2xi32>) {
  %c0 = arith.constant 0 : index
  %r:4 = scf.while (%a = %x, %b = %y) : (tensor<8xf32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<4xf32>, i32, tensor<8xf32>) {
    %half = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %n = tensor.extract %b[%c0] : tensor<2xi32>
    %p = arith.cmpi slt, %n, %most : i32
    scf.condition(%p) %z, %half, %n, %a : tensor<2xi32>, tensor<4xf32>, i32, tensor<8xf32>
  } do {
  ^bb0(%b: tensor<2xi32>, %half: tensor<4xf32>, %n: i32, %a: tensor<8xf32>):
    %c = tensor.insert_slice %half into %a[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    %d = tensor.insert %n into %b[%c0] : tensor<2xi32>
    scf.yield %c, %d : tensor<8xf32>, tensor<2xi32>
  }
  return %r#3, %r#0 : tensor<8xf32>, tensor<2xi32>
}

// A loop on one side of a branch updates what the other keeps: rows of a scatter, in place.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     alloc_tensor
// CHECK:         return
// BUFFER-LABEL: func.func @rows(
// BUFFER:         memref.copy
// BUFFER:         scf.for
// BUFFER-NOT:     memref.alloc
// BUFFER-NOT:     memref.copy
// BUFFER:         return
func.func @rows(%x: tensor<8x4xf32>, %rows: tensor<6xindex>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %x) -> tensor<8x4xf32> {
    %row = tensor.extract %rows[%i] : tensor<6xindex>
    %p = arith.cmpi ult, %row, %c8 : index
    %b = scf.if %p -> tensor<8x4xf32> {
      %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%d = %a) -> tensor<8x4xf32> {
        %old = tensor.extract %d[%row, %j] : tensor<8x4xf32>
        %new = arith.addf %old, %old : f32
        %e = tensor.insert %new into %d[%row, %j] : tensor<8x4xf32>
        scf.yield %e : tensor<8x4xf32>
      }
      scf.yield %s : tensor<8x4xf32>
    } else {
      scf.yield %a : tensor<8x4xf32>
    }
    scf.yield %b : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
