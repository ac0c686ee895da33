// RUN: fp8-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: fp8-opt < %s --split-input-file --verify-diagnostics | FileCheck %s

// Chunks without an error are printed.
// CHECK: func.func @fine
// CHECK-NOT: func.func

func.func @fine() { return }

// -----

func.func @next_line() {
  // expected-error@+1 {{custom op 'retrn' is unknown}}
  retrn
}

// -----

func.func @same_line() {
  retrn // expected-error {{custom op 'retrn' is unknown}}
}

// -----

func.func @line_before() {
  retrn
  // expected-error@-1 {{custom op 'retrn' is unknown}}
}

// -----

func.func @above() {
  retrn
  // expected-error@above {{custom op 'retrn' is unknown}}
}

// -----

func.func @below() {
  // expected-error@below {{custom op 'retrn' is unknown}}
  retrn
}

// -----

func.func @pattern() -> f32 {
  // expected-error-re@below {{op has {{[0-9]+}} operands, but enclosing function (@pattern) returns {{1|2}}}}
  return
}

// -----

func.func @counted() {
  // expected-error@below 1 {{custom op 'retrn' is unknown}}
  retrn
}

// -----

// expected-note@below {{see existing symbol definition here}}
func.func @twice() { return }
// expected-error@below {{redefinition of symbol named 'twice'}}
func.func @twice() { return }
