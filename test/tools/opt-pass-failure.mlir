// A pass that fails: place and reason on standard error, nothing on standard output, status 1.
// RUN: not fp8-opt %s --stablehlo-legalize-to-vhlo 2>&1 | FileCheck %s --check-prefix=UPSTREAM --match-full-lines
// RUN: not fp8-opt %s --verify-lowered 2>&1 | FileCheck %s --check-prefix=OWN --match-full-lines
// RUN: not fp8-opt < %s --verify-lowered 2>&1 | FileCheck %s --check-prefix=STDIN --match-full-lines

// Where the IR stood then.
// RUN: not fp8-opt %s --cse --verify-lowered --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=AFTER

// UPSTREAM: {{.*}}opt-pass-failure.mlir:22:3: error: failed to legalize {{.*}}
// UPSTREAM-NEXT: {{.*}}opt-pass-failure.mlir:22:3: note: see current operation: {{.*}}
// UPSTREAM-NOT: module {
// OWN: {{.*}}opt-pass-failure.mlir:20:1: error: 'func.func' {{.*}}
// STDIN: <stdin>:20:1: error: 'func.func' {{.*}}
// AFTER-NOT: IR Dump After CSE
// AFTER: IR Dump After VerifyLowered Failed: verify-lowered
// AFTER: func.func @main
// AFTER: arith.addf
// AFTER-NOT: func.func @main

func.func @main(%arg0: f32) -> f32 {
  %0 = arith.addf %arg0, %arg0 : f32
  return %0 : f32
}
