// RUN: fp8-opt %s --complex-freeze-operands --canonicalize | filecheck %s
// RUN: fp8-opt %s --complex-freeze-operands --convert-complex-to-standard --math-freeze-constants --canonicalize | filecheck %s --check-prefix=REAL

// Upstream's folder makes %a of it.
// CHECK-LABEL: func.func @there_and_back(
// CHECK:         complex.add
// CHECK:         complex.sub
// REAL-LABEL: func.func @there_and_back(
// REAL-NOT:     llvm.freeze
// REAL:         %[[SUM:.*]] = arith.addf
// REAL:         arith.subf %[[SUM]]
// REAL-NOT:     llvm.freeze
// REAL:         return
func.func @there_and_back(%a: complex<f32>, %b: complex<f32>) -> complex<f32> {
  %0 = complex.add %a, %b : complex<f32>
  %1 = complex.sub %0, %b : complex<f32>
  return %1 : complex<f32>
}

// CHECK-LABEL: func.func @functions(
// CHECK:         complex.exp
// CHECK:         complex.log
func.func @functions(%a: complex<f32>) -> complex<f32> {
  %0 = complex.exp %a : complex<f32>
  %1 = complex.log %0 : complex<f32>
  return %1 : complex<f32>
}

// CHECK-LABEL: func.func @constants(
// CHECK:         complex.add
// CHECK:         complex.mul
// CHECK:         complex.div
func.func @constants(%a: complex<f32>) -> complex<f32> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %one = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  %0 = complex.add %a, %zero : complex<f32>
  %1 = complex.mul %0, %one : complex<f32>
  %2 = complex.div %1, %one : complex<f32>
  return %2 : complex<f32>
}
