// A page, JSON, the header alone, and what differs between two files.
// RUN: fp8-translate --serialize --target=1.7.0 %s -o %t.bc
// RUN: fp8-translate --inspect %t.bc | FileCheck %s --match-full-lines --strict-whitespace
// RUN: fp8-translate --inspect - < %t.bc | FileCheck %s --check-prefix=STDIN
// RUN: fp8-translate --inspect --header %t.bc | FileCheck %s --check-prefix=HEADER --match-full-lines
// RUN: fp8-translate --inspect --json %t.bc | %python -c "import json, sys; f = json.load(sys.stdin); print(f['header']['stablehlo_version'], f['ops']['stablehlo.add'], f['error'])" | FileCheck %s --check-prefix=JSON
// RUN: fp8-translate --inspect %s %t.bc -o %t.page
// RUN: FileCheck %s --check-prefix=DIFFERENCE --input-file %t.page
// RUN: fp8-translate --inspect %t.bc %t.bc | FileCheck %s --check-prefix=SAME
// RUN: fp8-translate --inspect --json %s %t.bc | %python -c "import json, sys; f = json.load(sys.stdin); print(f['differences']['header']['kind'], len(f['files']))" | FileCheck %s --check-prefix=JSON-DIFFERENCE
// Damage: the header's facts, then the error.
// RUN: head -c 120 %t.bc > %t.damaged.bc
// RUN: not fp8-translate --inspect %t.damaged.bc > %t.damaged.page 2> %t.err
// RUN: FileCheck %s --check-prefix=DAMAGED --match-full-lines --input-file %t.damaged.page
// RUN: FileCheck %s --check-prefix=ERROR --match-full-lines --input-file %t.err
// RUN: not fp8-translate --inspect --json %t.damaged.bc 2> %t.err | FileCheck %s --check-prefix=JSON-DAMAGED
// RUN: not fp8-translate --json --deserialize %t.bc 2>&1 | FileCheck %s --check-prefix=MISPLACED --match-full-lines
// RUN: not fp8-translate --deserialize %t.bc %s 2>&1 | FileCheck %s --check-prefix=SECOND --match-full-lines
// RUN: not fp8-translate --inspect - - < %t.bc 2>&1 | FileCheck %s --check-prefix=TWICE --match-full-lines

//      CHECK:{{.*}}.bc
// CHECK-NEXT:  kind          StableHLO portable artifact
// CHECK-NEXT:  written for   StableHLO 1.7.0
// CHECK-NEXT:  producer      StableHLO_v1.7.0
// CHECK-NEXT:  bytecode      v6
// CHECK-NEXT:  size          {{.*}} bytes
// CHECK-NEXT:  needs         StableHLO 1.7.0, for type f8E3M4
// CHECK-NEXT:  constants     1, 2 bytes
// CHECK-NEXT:  largest       2 bytes, tensor<2xf8E3M4> at {{.*}}translate-inspect.mlir:{{[0-9]+}}:8
//      CHECK:functions
// CHECK-NEXT:  public   main  (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>
//      CHECK:features newer than StableHLO 0.9.0
// CHECK-NEXT:  1.7.0    type       f8E3M4      4 ops  at {{.*}}translate-inspect.mlir:{{[0-9]+}}:1
//      CHECK:small floats
// CHECK-NEXT:                 arguments    results  constants        ops
// CHECK-NEXT:  f8E3M4                 1          1          1          3
//      CHECK:5 ops
// CHECK-NEXT:          1  builtin.module
// STDIN: <stdin>
// HEADER:   size {{.*}}
// HEADER-NOT: {{.+}}
// JSON: 1.7.0 1 None
// DIFFERENCE: translate-inspect.mlir -> {{.*}}.bc
// DIFFERENCE: kind               text -> artifact
// DIFFERENCE: stablehlo version  none -> 1.7.0
// DIFFERENCE-NOT: ops
// SAME: no difference
// JSON-DIFFERENCE: ['text', 'artifact'] 2
// DAMAGED:   written for   StableHLO 1.7.0
// DAMAGED:   size          120 bytes
// ERROR: error: {{.*}}.damaged.bc: {{.*}}(an artifact of StableHLO 1.7.0, read by {{.*}})
// ERROR-NOT: {{.+}}
// JSON-DAMAGED: "error": "{{.+}}"
// MISPLACED: error: --json goes with --inspect
// SECOND: error: a second file ('{{.*}}translate-inspect.mlir') goes with --inspect
// TWICE: error: standard input can be one of the two files only
func.func @main(%a: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E3M4>
  %1 = stablehlo.add %a, %0 : tensor<2xf8E3M4>
  return %1 : tensor<2xf8E3M4>
}
