// Errors are one line, the exit status is 1 and no output file appears.
// RUN: not fp8-run %s --args %t.none.npz 2>&1 | filecheck %s --check-prefix=MISSING --match-full-lines
// RUN: not fp8-run %s --random 0 --entry other 2>&1 | filecheck %s --check-prefix=ENTRY --match-full-lines
// RUN: not fp8-run %s --random 0 --entry dynamic 2>&1 | filecheck %s --check-prefix=DYNAMIC --match-full-lines
// RUN: not fp8-run %s --random 0 --entry declared 2>&1 | filecheck %s --check-prefix=DECLARED --match-full-lines
// RUN: not fp8-run - --random 0 --entry unsupported -o %t.npz < %s 2>&1 | filecheck %s --check-prefix=CUSTOM-CALL --match-full-lines
// RUN: test ! -e %t.npz
// RUN: not fp8-run %s --random 0 -o %t.none/out.npz 2>&1 | filecheck %s --check-prefix=UNWRITABLE --match-full-lines
// RUN: not fp8-run %s --random 0 -o %t.npy 2>&1 | filecheck %s --check-prefix=NPY --match-full-lines
// RUN: test ! -e %t.npy
// RUN: not fp8-run < /dev/null 2>&1 | filecheck %s --check-prefix=NO-FILE --match-full-lines
// RUN: not fp8-run - < /dev/null 2>&1 | filecheck %s --check-prefix=EMPTY --match-full-lines
// RUN: not fp8-run --args %t.npz %s 2>&1 | filecheck %s --check-prefix=NO-FILE --match-full-lines
// RUN: not fp8-run - --args - < %s 2>&1 | filecheck %s --check-prefix=TWICE --match-full-lines
// RUN: not fp8-run %s --random -1 2>&1 | filecheck %s --check-prefix=SEED --match-full-lines
// RUN: not fp8-run %s --random 0 --tolerance nan 2>&1 | filecheck %s --check-prefix=TOLERANCE --match-full-lines
// RUN: not fp8-run %s --random 0 -o - --print 2>&1 | filecheck %s --check-prefix=STDOUT --match-full-lines

// MISSING: error: cannot read '{{.*}}.none.npz': No such file or directory
// ENTRY: error: there is no function 'other' to compile (functions: main, dynamic, declared, unsupported)
// DYNAMIC: {{.*}}run-errors.mlir:{{[0-9]+}}:1: error: 'func.func' argument 0 is tensor<?xf32>: give every dimension a size, or compile with shapes= (fp8-run: --args)
// DECLARED: {{.*}}run-errors.mlir:{{[0-9]+}}:1: error: 'func.func' 'declared' is only declared: it has no body to compile
// CUSTOM-CALL: <stdin>:{{[0-9]+}}:8: error: 'stablehlo.custom_call' calls 'unknown', which nobody has told the meaning of: give it one with mlir_fp8.register_custom_call
// UNWRITABLE: error: cannot write '{{.*}}out.npz': No such file or directory
// NPY: error: '{{.*}}.npy' would hold one result, 'main' gives 2: write an .npz
// NO-FILE: error: which module? Name its FILE first, before --args (see fp8-run --help)
// EMPTY: error: <stdin>: the file is empty
// TWICE: error: standard input can be read only once: give all but one '-' as files
// SEED: error: argument --random/-random: '-1' is not a number from 0 up (see fp8-run --help)
// TOLERANCE: error: argument --tolerance/-tolerance: 'nan' is not a number from 0 up (see fp8-run --help)
// STDOUT: error: -o - cannot be used with --print or --expect: both write standard output
func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %a, %a : tensor<f32>, tensor<f32>
}

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

func.func private @declared(%a: tensor<f32>) -> tensor<f32>

func.func @unsupported(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
