// Ops of dialects that nobody knows.
// RUN: fp8-opt %s --allow-unregistered-dialect --cse | FileCheck %s
// RUN: not fp8-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK: "vendor.quantize"(%arg0) : (f32) -> f8E4M3FN
// REFUSED: opt-unregistered.mlir:9{{.*}}'vendor.quantize' is of a dialect that is not registered here
// REFUSED-NOT: module
func.func @main(%arg0: f32) {
  "vendor.quantize"(%arg0) : (f32) -> f8E4M3FN
  return
}
