// RUN: fp8-opt %s --expm1-log1p-to-libm --split-input-file --verify-diagnostics | filecheck %s

// CHECK-DAG:   func.func private @expm1f(f32) -> f32
// CHECK-DAG:   func.func private @log1p(f64) -> f64
// CHECK-LABEL: func.func @calls(
// CHECK:         call @expm1f(%{{.*}}) : (f32) -> f32
// CHECK:         call @expm1f(%{{.*}}) : (f32) -> f32
// CHECK:         call @log1p(%{{.*}}) : (f64) -> f64
// CHECK-NEXT:    math.exp
func.func @calls(%a: f32, %b: f64) -> (f32, f64, f64) {
  %0 = math.expm1 %a : f32
  %1 = math.expm1 %0 : f32
  %2 = math.log1p %b : f64
  %3 = math.exp %b : f64
  return %1, %2, %3 : f32, f64, f64
}

// -----

func.func @vectors(%a: vector<4xf32>) -> vector<4xf32> {
  // expected-error@+1 {{on vector<4xf32> has no C library routine: use it on f32 or f64 scalars}}
  %0 = math.expm1 %a : vector<4xf32>
  return %0 : vector<4xf32>
}
