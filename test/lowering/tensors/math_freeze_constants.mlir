// RUN: fp8-opt %s --math-freeze-constants | filecheck %s
// RUN: fp8-opt %s --math-freeze-constants --canonicalize | filecheck %s --check-prefix=FOLDED
// RUN: fp8-opt %s --math-freeze-constants --canonicalize --math-expand-in-f64 | filecheck %s --check-prefix=MELTED

// CHECK-LABEL: func.func @constants(
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         %[[FROZEN:.*]] = llvm.freeze %[[SUM]] : f32
// CHECK:         math.cosh %[[FROZEN]] : f32
// CHECK:         llvm.freeze %{{.*}} : f64
// CHECK:         math.atan2
// FOLDED-LABEL: func.func @constants(
// FOLDED:         math.cosh
// FOLDED:         math.atan2
// MELTED-LABEL: func.func @constants(
// MELTED-NOT:     math.cosh
// MELTED:         math.atan2 %{{.*}} : f64
func.func @constants(%out: f32) -> (f32, f64) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant -0.0 : f64
  %two = arith.addf %one, %one : f32
  %0 = math.cosh %two : f32
  %1 = math.atan2 %zero, %zero : f64
  return %0, %1 : f32, f64
}

// Arguments are not constants, alone or with constants.
// CHECK-LABEL: func.func @arguments(
// CHECK-NOT:     llvm.freeze
// CHECK:         return
func.func @arguments(%x: f32, %t: tensor<4xf32>, %empty: tensor<4xf32>) -> (f32, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %sum = arith.addf %x, %one : f32
  %0 = math.exp %sum : f32
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%t : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %2 = math.sin %k : f32
    %3 = arith.mulf %in, %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %0, %1 : f32, tensor<4xf32>
}

// Through elements of constants, and selects by a constant condition.
// CHECK-LABEL: func.func @elements(
// CHECK:         llvm.freeze
// CHECK-NEXT:    math.exp
// CHECK:         llvm.freeze
// CHECK-NEXT:    math.tanh
func.func @elements(%x: f32) -> (tensor<f32>, f32) {
  %c = arith.constant dense<2.0> : tensor<f32>
  %empty = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
                       iterator_types = []}
      ins(%c : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%in: f32, %o: f32):
    %1 = math.exp %in : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %true = arith.constant true
  %two = arith.constant 2.0 : f32
  %chosen = arith.select %true, %two, %x : f32
  %2 = math.tanh %chosen : f32
  return %0, %2 : tensor<f32>, f32
}
