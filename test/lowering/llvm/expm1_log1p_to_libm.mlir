// RUN: fp8-opt %s --expm1-log1p-to-libm --split-input-file --verify-diagnostics | filecheck %s

// CHECK-DAG:   func.func private @expm1(f64) -> f64
// CHECK-DAG:   func.func private @log1p(f64) -> f64
// CHECK-LABEL: func.func @calls(
// CHECK:         call @expm1(%{{.*}}) : (f64) -> f64
// CHECK:         call @expm1(%{{.*}}) : (f64) -> f64
// CHECK:         call @log1p(%{{.*}}) : (f64) -> f64
// CHECK-NEXT:    math.exp
func.func @calls(%a: f64, %b: f64) -> (f64, f64, f64) {
  %0 = math.expm1 %a : f64
  %1 = math.expm1 %0 : f64
  %2 = math.log1p %b : f64
  %3 = math.exp %b : f64
  return %1, %2, %3 : f64, f64, f64
}

// -----

func.func @vectors(%a: vector<4xf64>) -> vector<4xf64> {
  // expected-error@+1 {{on vector<4xf64> is not a call: use f64 scalars}}
  %0 = math.expm1 %a : vector<4xf64>
  return %0 : vector<4xf64>
}

// -----

func.func @singles(%a: f32) -> f32 {
  // expected-error@+1 {{on f32 is not a call: run math-expand-in-f64 before}}
  %0 = math.log1p %a : f32
  return %0 : f32
}
