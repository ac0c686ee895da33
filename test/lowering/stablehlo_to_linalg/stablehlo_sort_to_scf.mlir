// RUN: fp8-opt %s --stablehlo-sort-to-scf --split-input-file --verify-diagnostics | filecheck %s
// RUN: fp8-opt %s --stablehlo-sort-to-scf --split-input-file --canonicalize --protect-arguments --carry-in-place --empty-tensor-to-alloc-tensor --one-shot-bufferize="bufferize-function-boundaries allow-unknown-ops" | filecheck %s --check-prefix=BUFFER

// Along dim 0 of two operands, by the first: lines of 5 take 3 passes and end in the other half.

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[KEYS:[^:]*]]: tensor<5x3xf32>, %[[VALUES:[^:]*]]: tensor<5x3xi8>)
// CHECK-DAG:     %[[KEY_LINES:.*]] = tensor.empty() : tensor<2x5xf32>
// CHECK-DAG:     %[[VALUE_LINES:.*]] = tensor.empty() : tensor<2x5xi8>
// CHECK:         %[[OUTER:.*]]:4 = scf.for %[[COLUMN:.*]] = %c0 to %c3{{.*}} step %c1 iter_args(%[[K:.*]] = %[[KEYS]], %[[V:.*]] = %[[VALUES]], %{{.*}} = %[[KEY_LINES]], %{{.*}} = %[[VALUE_LINES]])
// CHECK:           scf.for %[[I:.*]] = %c0 to %c5
// CHECK-NEXT:        %[[E:.*]] = tensor.extract %[[K]][%[[I]], %[[COLUMN]]]
// CHECK-NEXT:        tensor.insert %[[E]] into %{{.*}}[%c0, %[[I]]] : tensor<2x5xf32>
// CHECK:           scf.for %[[PASS:.*]] = %c0 to %c3
// CHECK-NEXT:        %[[SOURCE:.*]] = arith.andi %[[PASS]], %c1
// CHECK-NEXT:        %[[TARGET:.*]] = arith.xori %[[SOURCE]], %c1
// CHECK-NEXT:        %[[WIDTH:.*]] = arith.shli %c1, %[[PASS]]
// CHECK-NEXT:        %[[STEP:.*]] = arith.shli %[[WIDTH]], %c1
// CHECK-NEXT:        scf.for %[[LOW:.*]] = %c0 to %c5 step %[[STEP]]
// CHECK:               %[[MIDDLE:.*]] = arith.minui %{{.*}}, %c5
// CHECK:               %[[HIGH:.*]] = arith.minui %{{.*}}, %c5
// CHECK-NEXT:          scf.for %[[AT:.*]] = %[[LOW]] to %[[HIGH]] step %c1 iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[LEFT:.*]] = %[[LOW]], %[[RIGHT:.*]] = %[[MIDDLE]])
// CHECK-NEXT:            %[[HAS_LEFT:.*]] = arith.cmpi ult, %[[LEFT]], %[[MIDDLE]]
// CHECK-NEXT:            %[[HAS_RIGHT:.*]] = arith.cmpi ult, %[[RIGHT]], %[[HIGH]]
// CHECK-NEXT:            %[[BOTH:.*]] = arith.andi %[[HAS_LEFT]], %[[HAS_RIGHT]]
// CHECK-NEXT:            %[[TAKES_RIGHT:.*]] = scf.if %[[BOTH]] -> (i1) {
// CHECK-NEXT:              %[[FIRST:.*]] = tensor.extract %[[X]][%[[SOURCE]], %[[RIGHT]]]
// CHECK-NEXT:              %[[SECOND:.*]] = tensor.extract %[[X]][%[[SOURCE]], %[[LEFT]]]
// CHECK:                   %[[A:.*]] = tensor.from_elements %[[FIRST]] : tensor<f32>
// CHECK-NEXT:              %[[B:.*]] = tensor.from_elements %[[SECOND]] : tensor<f32>
// CHECK:                   %[[P:.*]] = stablehlo.compare LT, %[[A]], %[[B]]
// CHECK-NEXT:              %[[YES:.*]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK-NEXT:              scf.yield %[[YES]]
// CHECK-NEXT:            } else {
// CHECK-NEXT:              %[[NO_LEFT:.*]] = arith.xori %[[HAS_LEFT]], %true
// CHECK-NEXT:              scf.yield %[[NO_LEFT]]
// CHECK:                 %[[TAKEN:.*]] = arith.select %[[TAKES_RIGHT]], %[[RIGHT]], %[[LEFT]]
// CHECK-NEXT:            %[[MOVED:.*]] = tensor.extract %[[X]][%[[SOURCE]], %[[TAKEN]]]
// CHECK-NEXT:            tensor.insert %[[MOVED]] into %[[X]][%[[TARGET]], %[[AT]]]
// CHECK:           scf.for
// CHECK-NEXT:        tensor.extract %{{.*}}[%c1{{.*}}, %{{.*}}] : tensor<2x5xf32>
// CHECK:         return %[[OUTER]]#0, %[[OUTER]]#1

// The scratch is allocated once, and each operand copied at most once, outside of the loops.
// BUFFER-LABEL: func.func @pairs(
// BUFFER:         memref.alloc() {{.*}} : memref<2x5xf32>
// BUFFER:         memref.alloc() {{.*}} : memref<2x5xi8>
// BUFFER:         memref.copy
// BUFFER:         memref.copy
// BUFFER:         scf.for
// BUFFER-NOT:     memref.copy
// BUFFER-NOT:     memref.alloc() {{.*}} : memref<{{[0-9]}}x
// BUFFER:         return

func.func @pairs(%keys: tensor<5x3xf32>, %values: tensor<5x3xi8>) -> (tensor<5x3xf32>, tensor<5x3xi8>) {
  %0:2 = "stablehlo.sort"(%keys, %values) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5x3xf32>, tensor<5x3xi8>) -> (tensor<5x3xf32>, tensor<5x3xi8>)
  return %0#0, %0#1 : tensor<5x3xf32>, tensor<5x3xi8>
}

// -----

// There is nothing to sort in lines of one element, and no line in what is empty.

// CHECK-LABEL: func.func @nothing_to_do(
// CHECK-NEXT:    return %arg0, %arg1
// BUFFER-LABEL: func.func @nothing_to_do(
func.func @nothing_to_do(%x: tensor<4x1xf32>, %y: tensor<0x7xf32>) -> (tensor<4x1xf32>, tensor<0x7xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<0x7xf32>) -> tensor<0x7xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<0x7xf32>
}
