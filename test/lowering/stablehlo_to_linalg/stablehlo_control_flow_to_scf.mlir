// RUN: fp8-opt %s --stablehlo-control-flow-to-scf --split-input-file --verify-diagnostics | filecheck %s

// Rank-0 values are loop-carried scalars; the token, which only orders, is not carried.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf8E4M3FN>, %[[N:[^:]*]]: tensor<ui8>)
// CHECK:         %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui8>
// CHECK-NEXT:    %[[START:.*]] = tensor.extract %[[ZERO]][] : tensor<ui8>
// CHECK-NEXT:    %[[LOOP:.*]]:2 = scf.while (%[[I:.*]] = %[[START]], %[[A:.*]] = %[[X]]) : (ui8, tensor<8xf8E4M3FN>) -> (ui8, tensor<8xf8E4M3FN>) {
// CHECK-NEXT:      %[[I0:.*]] = tensor.from_elements %[[I]] : tensor<ui8>
// CHECK-NEXT:      %[[LESS:.*]] = stablehlo.compare LT, %[[I0]], %[[N]]
// CHECK-NEXT:      %[[GO:.*]] = tensor.extract %[[LESS]][] : tensor<i1>
// CHECK-NEXT:      scf.condition(%[[GO]]) %[[I]], %[[A]] : ui8, tensor<8xf8E4M3FN>
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[J:.*]]: ui8, %[[B:.*]]: tensor<8xf8E4M3FN>):
// CHECK-NEXT:      %[[J0:.*]] = tensor.from_elements %[[J]] : tensor<ui8>
// CHECK:           %[[SUM:.*]] = stablehlo.add %[[J0]]
// CHECK-NEXT:      %[[DOUBLE:.*]] = stablehlo.add %[[B]], %[[B]]
// CHECK-NEXT:      %[[NEXT:.*]] = tensor.extract %[[SUM]][] : tensor<ui8>
// CHECK-NEXT:      scf.yield %[[NEXT]], %[[DOUBLE]]
// CHECK:         %[[COUNT:.*]] = tensor.from_elements %[[LOOP]]#0 : tensor<ui8>
// CHECK-NEXT:    return %[[COUNT]], %[[LOOP]]#1
func.func @loop(%x: tensor<8xf8E4M3FN>, %n: tensor<ui8>) -> (tensor<ui8>, tensor<8xf8E4M3FN>) {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  %token = stablehlo.create_token : !stablehlo.token
  %r:3 = stablehlo.while(%i = %zero, %t = %token, %a = %x) : tensor<ui8>, !stablehlo.token, tensor<8xf8E4M3FN>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<ui8>
      %j = stablehlo.add %i, %one : tensor<ui8>
      %b = stablehlo.add %a, %a : tensor<8xf8E4M3FN>
      %u = stablehlo.after_all %t, %t : !stablehlo.token
      stablehlo.return %j, %u, %b : tensor<ui8>, !stablehlo.token, tensor<8xf8E4M3FN>
    }
  return %r#0, %r#2 : tensor<ui8>, tensor<8xf8E4M3FN>
}

// -----

// A branch without results, and a nested one that captures values.

// CHECK-LABEL: func.func @branches(
// CHECK:         %[[P:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[P]] -> (f32) {
// CHECK-NEXT:      %[[Q:.*]] = tensor.extract
// CHECK-NEXT:      scf.if %[[Q]] {
// CHECK-NEXT:      } else {
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[Y:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK-NEXT:      scf.yield %[[Y]] : f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[Z:.*]] = stablehlo.negate
// CHECK-NEXT:      %[[ELSE:.*]] = tensor.extract %[[Z]][] : tensor<f32>
// CHECK-NEXT:      scf.yield %[[ELSE]] : f32
// CHECK:         tensor.from_elements %[[R]] : tensor<f32>
func.func @branches(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.if"(%p) ({
    "stablehlo.if"(%p) ({
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
    stablehlo.return %x : tensor<f32>
  }, {
    %y = stablehlo.negate %x : tensor<f32>
    stablehlo.return %y : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// The last branch is for every other index, negative ones included.

// What is out of range, negative or not, is the last.
// CHECK-LABEL: func.func @cases(
// CHECK:         %[[I:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK-NEXT:    %[[LAST:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    %[[KNOWN:.*]] = arith.minui %[[I]], %[[LAST]] : i32
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    %[[FIRST:.*]] = arith.cmpi ult, %[[KNOWN]], %[[ONE]] : i32
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[FIRST]] -> (tensor<2xi1>) {
// CHECK-NEXT:      scf.yield %arg1
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT:      %[[SECOND:.*]] = arith.cmpi ult, %[[KNOWN]], %[[TWO]] : i32
// CHECK-NEXT:      %[[INNER:.*]] = scf.if %[[SECOND]] -> (tensor<2xi1>) {
// CHECK-NEXT:        scf.yield %arg2
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %arg3
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %[[INNER]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[R]], %arg1
func.func @cases(%i: tensor<i32>, %x: tensor<2xi1>, %y: tensor<2xi1>, %z: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xi1>
  }, {
    stablehlo.return %y : tensor<2xi1>
  }, {
    stablehlo.return %z : tensor<2xi1>
  }) : (tensor<i32>) -> tensor<2xi1>
  %s = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xi1>
  }) : (tensor<i32>) -> tensor<2xi1>
  return %r, %s : tensor<2xi1>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func.func @tuples(
// CHECK-NEXT:    return %arg1 : tensor<2xi32>
func.func @tuples(%x: tensor<f32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %inner = stablehlo.tuple %x, %y : tuple<tensor<f32>, tensor<2xi32>>
  %outer = stablehlo.tuple %inner, %x : tuple<tuple<tensor<f32>, tensor<2xi32>>, tensor<f32>>
  %0 = stablehlo.get_tuple_element %outer[0] : (tuple<tuple<tensor<f32>, tensor<2xi32>>, tensor<f32>>) -> tuple<tensor<f32>, tensor<2xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<f32>, tensor<2xi32>>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}

// -----

func.func @in_a_reduction(%x: tensor<2xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // expected-error@+1 {{'stablehlo.if' in the body of stablehlo.reduce has no lowering: compute both sides and select}}
    %c = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<f32>
    }, {
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
