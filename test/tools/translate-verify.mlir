// Errors of an action against the expected-error comments of its input, as in mlir-translate.
// RUN: fp8-translate --interpret --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: not fp8-translate --interpret %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fp8-translate --interpret --split-input-file %s 2>&1 | FileCheck %s --check-prefix=PLAIN --match-full-lines
// RUN: sed 's/values/valves/' %s > %t.mlir
// RUN: not fp8-translate --interpret --split-input-file --verify-diagnostics %t.mlir 2>&1 | FileCheck %s --check-prefix=UNMET

func.func @good() -> tensor<i32> {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>
  // CHECK: tensor<i32> {3}
  return %0 : tensor<i32>
}

// -----

func.func @bad() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  // expected-error@+1 {{'check.expect_eq_const' element values don't match: 3 (actual) vs 4 (expected)}}
  check.expect_eq_const %0, dense<4> : tensor<i32>
  return
}

// -----

func.func @unknown_op() {
  // expected-error@+1 {{'custom_call @f' cannot be interpreted}}
  stablehlo.custom_call @f() {has_side_effect = true} : () -> ()
  return
}

// TWICE: error: no function 'main': the module's functions are 'good', 'bad', 'unknown_op'
// PLAIN: {{.*}}translate-verify.mlir:20:3: error: 'check.expect_eq_const' element values don't match: 3 (actual) vs 4 (expected) at index []
// PLAIN: {{.*}}translate-verify.mlir:28:3: error: 'custom_call @f' cannot be interpreted: the interpreter does not know it; write it as ops
// UNMET: .mlir:20:3: error: unexpected error: 'check.expect_eq_const' element values don't match
// UNMET: .mlir:19:6: error: expected error "'check.expect_eq_const' element valves don't match
