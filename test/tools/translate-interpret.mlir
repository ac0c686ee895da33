// As stablehlo-translate --interpret prints; the checks of StableHLO's own tests; probes; errors.
// RUN: fp8-translate --interpret --split-input-file %s | FileCheck %s
// RUN: fp8-translate -interpret -split-input-file --interpreter-print-dense %s | FileCheck %s --check-prefix=DENSE

// RUN: echo 'func.func @main(%%a: tensor<2xf8E4M3FN>, %%b: tensor<2xi1>) -> (tensor<2xf8E4M3FN>, tensor<2xi1>) { return %%a, %%b : tensor<2xf8E4M3FN>, tensor<2xi1> }' > %t.args.mlir
// RUN: fp8-translate --interpret %t.args.mlir --args='[dense<[1.5, 0x7F]> : tensor<2xf8E4M3FN>, dense<[true, false]> : tensor<2xi1>]' | FileCheck %s --check-prefix=ARGS
// RUN: echo '[dense<[1.5, 0x7F]> : tensor<2xf8E4M3FN>, dense<[true, false]> : tensor<2xi1>]' > %t.args
// RUN: fp8-translate --interpret --args=@%t.args < %t.args.mlir | FileCheck %s --check-prefix=ARGS
// RUN: not fp8-translate --interpret %t.args.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not fp8-translate --interpret %t.args.mlir --args='[dense<1.0> : tensor<2xf8E5M2>, dense<true> : tensor<2xi1>]' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fp8-translate --interpret %t.args.mlir --args='dense<1.0> : tensor<2xf8E5M2>' 2>&1 | FileCheck %s --check-prefix=ARRAY
// RUN: not fp8-translate --interpret %t.args.mlir --args='[4.0 : f32]' 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not fp8-translate --interpret %t.args.mlir --args='[dense<' 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not fp8-translate --interpret %t.args.mlir --args=@%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not fp8-translate --interpret %t.args.mlir --entry=f 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fp8-translate --serialize %t.args.mlir --entry=f 2>&1 | FileCheck %s --check-prefix=MISPLACED
// RUN: not fp8-translate --interpret %t.args.mlir --time-limit=0 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: not fp8-translate --interpret %t.args.mlir --time-limit=inf 2>&1 | FileCheck %s --check-prefix=DAY
// RUN: not fp8-translate --interpret %t.args.mlir --time-limit=nan 2>&1 | FileCheck %s --check-prefix=DAY
// RUN: not fp8-translate --interpret %t.args.mlir --time-limit=1e30 2>&1 | FileCheck %s --check-prefix=DAY
// RUN: not fp8-translate --interpret %t.args.mlir --args= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not fp8-translate --interpret %t.args.mlir --args=' ' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not fp8-translate --interpret %t.args.mlir --args=@/dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not fp8-translate --interpret %t.args.mlir --args='[dense<1> : tensor<2xi3>]' 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not fp8-translate --interpret %t.args.mlir --args='[dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>]' 2>&1 | FileCheck %s --check-prefix=COMPLEX
// RUN: not fp8-translate --interpret %t.args.mlir --args='dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>' 2>&1 | FileCheck %s --check-prefix=COMPLEX

// RUN: echo 'func.func @main() { %%0 = stablehlo.custom_call @f() : () -> tensor<i32> return }' > %t.call.mlir
// RUN: not fp8-translate --interpret %t.call.mlir -o %t.none 2> %t.err
// RUN: test ! -e %t.none
// RUN: FileCheck %s --check-prefix=CALL --match-full-lines --input-file %t.err

// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: echo 'func.func @main() { %%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E5M2> %%1 = interpreter.probe %%0, probe_id = "a/b" : tensor<2xf8E5M2> return }' > %t.probe.mlir
// RUN: fp8-translate --interpret %t.probe.mlir --probe-output-dir=%t.dir
// RUN: FileCheck %s --check-prefix=INDEX --input-file %t.dir/index.csv
// RUN: %python -c "import numpy, sys; print(numpy.load(sys.argv[1]))" %t.dir/probe1.npy | FileCheck %s --check-prefix=NPY
// RUN: not fp8-translate --interpret %t.probe.mlir --probe-output-dir=%t.none 2>&1 | FileCheck %s --check-prefix=DIRECTORY

func.func @shapes() -> (tensor<3xi8>, tensor<2xf8E3M4>, tensor<2xi1>, tensor<ui8>, tensor<2x1x2xi64>, tensor<2x0xi8>, tensor<0x2xi8>) {
  // CHECK:      tensor<3xi8> {
  // CHECK-NEXT:   [1, 2, -3]
  // CHECK-NEXT: }
  // DENSE:      dense<[1, 2, -3]> : tensor<3xi8>
  %a = stablehlo.constant dense<[1, 2, -3]> : tensor<3xi8>
  // CHECK-NEXT: tensor<2xf8E3M4> {
  // CHECK-NEXT:   [1.000000e+00, -4.000000e+00]
  // CHECK-NEXT: }
  // DENSE-NEXT: dense<[1.000000e+00, -4.000000e+00]> : tensor<2xf8E3M4>
  %b = stablehlo.constant dense<[1.0, -4.0]> : tensor<2xf8E3M4>
  // CHECK-NEXT: tensor<2xi1> {
  // CHECK-NEXT:   [true, false]
  // CHECK-NEXT: }
  // DENSE-NEXT: dense<[true, false]> : tensor<2xi1>
  %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT: tensor<ui8> {1}
  // DENSE-NEXT: dense<1> : tensor<ui8>
  %d = stablehlo.constant dense<1> : tensor<ui8>
  // CHECK-NEXT: tensor<2x1x2xi64> {
  // CHECK-NEXT:   [
  // CHECK-NEXT:     [
  // CHECK-NEXT:       [0, 1]
  // CHECK-NEXT:     ],
  // CHECK-NEXT:     [
  // CHECK-NEXT:       [4, 0]
  // CHECK-NEXT:     ]
  // CHECK-NEXT:   ]
  // CHECK-NEXT: }
  %e = stablehlo.constant dense<[[[0, 1]], [[4, 0]]]> : tensor<2x1x2xi64>
  // CHECK-NEXT: tensor<2x0xi8> {
  // CHECK-NEXT:   [
  // CHECK-NEXT:     [],
  // CHECK-NEXT:     []
  // CHECK-NEXT:   ]
  // CHECK-NEXT: }
  %f = stablehlo.constant dense<> : tensor<2x0xi8>
  // CHECK-NEXT: tensor<0x2xi8> {
  // CHECK-NEXT:   []
  // CHECK-NEXT: }
  %g = stablehlo.constant dense<> : tensor<0x2xi8>
  return %a, %b, %c, %d, %e, %f, %g : tensor<3xi8>, tensor<2xf8E3M4>, tensor<2xi1>, tensor<ui8>, tensor<2x1x2xi64>, tensor<2x0xi8>, tensor<0x2xi8>
}

// -----

func.func @narrow_and_complex() -> (tensor<2xi4>, tensor<2xf6E2M3FN>, tensor<1xcomplex<f64>>) {
  // CHECK: %c = tensor<2xi4> {
  // CHECK-NEXT: [1, -2]
  // CHECK-NEXT: }
  // CHECK-NEXT: tensor<2xi4> {
  // CHECK-NEXT: [1, -2]
  // DENSE: %c = dense<[1, -2]> : tensor<2xi4>
  // DENSE-NEXT: dense<[1, -2]> : tensor<2xi4>
  %a = stablehlo.constant dense<[1, -2]> : tensor<2xi4>
  interpreter.print %a : tensor<2xi4>
  // CHECK: tensor<2xf6E2M3FN> {
  // CHECK-NEXT: [1.250000e-01, -7.500000e+00]
  %b = stablehlo.constant dense<[0.125, -7.5]> : tensor<2xf6E2M3FN>
  // CHECK: tensor<1xcomplex<f64>> {
  // CHECK-NEXT: {{\[\[3.140000e\+00, 1.000000e\+00\]\]}}
  // DENSE: dense<(3.140000e+00,1.000000e+00)> : tensor<1xcomplex<f64>>
  %c = stablehlo.constant dense<(3.14, 1.0)> : tensor<1xcomplex<f64>>
  return %a, %b, %c : tensor<2xi4>, tensor<2xf6E2M3FN>, tensor<1xcomplex<f64>>
}

// -----

// Nothing to run.

// -----

func.func @probes_in_a_loop() -> tensor<i64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %r = stablehlo.while(%i = %zero) : tensor<i64>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i64>
    %p = interpreter.probe %n, probe_id = "step" : tensor<i64>
    stablehlo.return %p : tensor<i64>
  }
  check.expect_eq_const %r, dense<2> : tensor<i64>
  check.expect_serialized_eq %one, probe_id = "step" : tensor<i64>
  check.expect_serialized_eq %two, probe_id = "step", iter = 1 : tensor<i64>
  // CHECK: tensor<i64> {2}
  return %r : tensor<i64>
}

// ARGS:      tensor<2xf8E4M3FN> {
// ARGS-NEXT:   [1.500000e+00, 0x7F]
// ARGS-NEXT: }
// ARGS-NEXT: tensor<2xi1> {
// ARGS-NEXT:   [true, false]
// ARGS-NEXT: }
// NUMBER: error: incorrect number of arguments specified, provided 0 inputs but function expected 2
// TYPE: error: invalid input argument type at index 0, input type was 'tensor<2xf8E5M2>' but entry function expected 'tensor<2xf8E4M3FN>'
// ARRAY: error: --args is no array of constants, as in --args='[dense<1> : tensor<2xi32>, ...]'
// CONSTANT: error: --args: 4.000000e+00 : f32 is no dense constant, as in
// SYNTAX: error: --args: {{.+}}: give them as in --args='[dense<1> : tensor<2xi32>, ...]'
// FILE: error: --args: cannot read '{{.*}}.none': No such file or directory
// ENTRY: error: no function 'f': the module's functions are 'main'
// MISPLACED: error: --entry goes with --interpret
// LIMIT: error: --time-limit is 0: it must be positive
// DAY: error: --time-limit is {{inf|nan|1e\+30}}: it must be 86400 s at most, a day
// EMPTY: error: --args is empty: give them as in --args='[dense<1> : tensor<2xi32>, ...]'
// ELEMENT: error: --args: argument 0 is tensor<2xi3>: the interpreter knows no i3, convert it to a StableHLO type
// COMPLEX: error: --args: complex numbers cannot be given here: give real and imaginary parts, or use mlir_fp8.interpret
// CALL: {{.*}}.call.mlir:1:26: error: 'custom_call @f' cannot be interpreted: the interpreter does not know it; write it as ops
// CALL-NOT: {{.+}}
// INDEX: a/b,tensor<2xf8E5M2>,{{.*}}.dir/probe1.npy
// NPY: [60 64]
// DIRECTORY: error: --probe-output-dir: '{{.*}}.none' is no directory
