// What `--verify-diagnostics` finds wrong, in MLIR's words.
// RUN: not fp8-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s
// RUN: not fp8-opt %s --split-input-file --verify-diagnostics=only-expected 2>&1 | FileCheck %s --check-prefix=ONLY

// ONLY-NOT: unexpected
// ONLY: error: expected error "no such message" was not produced

// CHECK: failures.mlir:{{[0-9]+}}:3: error: unexpected error: custom op 'retrn' is unknown
func.func @unexpected() {
  retrn
}

// -----

// CHECK: error: expected error "no such message" was not produced
// expected-error@+1 {{no such message}}
func.func @unmet() { return }

// -----

// CHECK: error: 'error' diagnostic emitted when expecting a 'warning'
// CHECK: error: expected warning "is unknown" was not produced
func.func @severity() {
  // expected-warning@+1 {{is unknown}}
  retrn
}

// -----

// CHECK: error: expected error "is unknown" was not produced 2 times
func.func @count() {
  // expected-error@+1 2 {{is unknown}}
  retrn
}

// -----

// CHECK: error: expected note "somewhere" was not produced
// expected-note@unknown {{somewhere}}
func.func @unknown_place() { return }

// -----

// CHECK: error: invalid regex
// expected-error-re {{bad {{(}} regex}}
// CHECK: error: found start of regex with no end '}}'
// expected-error-re {{bad {{regex}}
// CHECK: error: malformed expected-* comment
// expected-error@nowhere {{x}}
// CHECK: error: line offset '-999' is before the start of the file
// expected-error@-999 {{x}}
func.func @malformed() { return }
