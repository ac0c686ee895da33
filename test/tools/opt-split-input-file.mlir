// Each chunk is a module of its own; outputs are joined by the marker.
// RUN: fp8-opt %s --split-input-file --cse 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NEAR --input-file %t.err
// RUN: fp8-opt %s --split-input-file --output-split-marker='// next' | FileCheck %s --check-prefix=MARKER
// RUN: fp8-opt %s --split-input-file='// here' | FileCheck %s --check-prefix=OTHER

// One bad chunk: all others are still looked at, diagnostics have the file's own line numbers, and
// there is no output.
// RUN: printf 'func.func @a() { retrn }\n// -----\n\nfunc.func @b() { return }\n// -----\nfunc.func @c() {\n  retrn }\n' > %t.mlir
// RUN: not fp8-opt %t.mlir --split-input-file > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=BAD --match-full-lines --input-file %t.err
// RUN: test ! -s %t.out

// An empty chunk is none.
// RUN: printf '// -----\n\n// -----\nfunc.func @a() { return }\n// -----\n' | fp8-opt --split-input-file | FileCheck %s --check-prefix=ONE

// CHECK: module {
// CHECK-NEXT: func.func @first
// CHECK: {{^}}// -----{{$}}
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @second
// CHECK: {{^}}// -----{{$}}
// CHECK: func.func @third
// MARKER: @first
// MARKER: {{^}}// next{{$}}
// MARKER: @second
// MARKER: {{^}}// next{{$}}
// MARKER: @third
// OTHER: @first
// OTHER: @second
// OTHER: {{^}}// here{{$}}
// OTHER: @third
// NEAR: opt-split-input-file.mlir:{{[0-9]+}}:1: warning: near miss with file split marker
// BAD: {{.*}}.mlir:1:18: error: custom op 'retrn' is unknown {{.*}}
// BAD-NEXT: {{.*}}.mlir:7:3: error: custom op 'retrn' is unknown {{.*}}
// BAD-NOT: {{.}}
// ONE: func.func @a
// ONE-NOT: -----

func.func @first() { return }

// -----

func.func @second() { return }

// -----
// here
// ----

func.func @third() { return }
