// Errors that only a process shows: one line on standard error, status 1, no output file.
// (All others: test_opt_errors.py.)
// RUN: not fp8-opt %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING --match-full-lines
// RUN: not fp8-opt %s -o %t.none/out.mlir 2>&1 | FileCheck %s --check-prefix=UNWRITABLE --match-full-lines
// RUN: not fp8-opt < /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY-STDIN --match-full-lines
// RUN: not fp8-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=FLAG --match-full-lines

// MLIR's own option parser writes to standard error; it ends up in the one line.
// RUN: not fp8-opt %s --canonicalize=max-iterations=few > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=VALUE --match-full-lines --input-file %t.err
// RUN: test ! -s %t.out

// A parse error leaves no output, and leaves an earlier output as it was.
// RUN: printf 'func.func @f() {\n  retrn\n}' > %t.bad.mlir
// RUN: printf 'earlier' > %t.kept
// RUN: not fp8-opt %t.bad.mlir -o %t.kept 2>&1 | FileCheck %s --check-prefix=PARSE --match-full-lines
// RUN: FileCheck %s --check-prefix=KEPT --input-file %t.kept --match-full-lines
// RUN: not fp8-opt < %t.bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE-STDIN --match-full-lines

// MISSING: error: cannot read '{{.*}}.missing': No such file or directory
// UNWRITABLE: error: cannot write '{{.*}}out.mlir': No such file or directory
// EMPTY-STDIN: error: <stdin>: {{.*}}empty{{.*}}
// FLAG: error: unknown flag or pass '--canonicalise'; did you mean '--canonicalize'?
// VALUE: error: pass 'canonicalize': option 'max-iterations': 'few' value invalid
// VALUE-NOT: {{.+}}
// PARSE: {{.*}}.bad.mlir:2:3: error: custom op 'retrn' is unknown (tried 'func.retrn' as well)
// PARSE-STDIN: <stdin>:2:3: error: custom op 'retrn' is unknown (tried 'func.retrn' as well)
// KEPT: earlier
func.func @main() { return }
