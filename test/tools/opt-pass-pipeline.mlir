// A textual pipeline, with nesting, own passes and named pipelines.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(func.func(chlo-legalize-to-stablehlo,cse),hlo-legalize-to-stablehlo,canonicalize{max-iterations=3})' --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: fp8-opt %s -pass-pipeline 'builtin.module( cse , any(cse) )' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=SPACES
// RUN: fp8-opt %s --pass-pipeline='builtin.module()' | FileCheck %s --check-prefix=EMPTY

// A named pipeline stands where a pass can.
// RUN: fp8-opt %s --pass-pipeline='builtin.module(cse,lower-to-stablehlo-pipeline,symbol-dce)' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: fp8-opt %s --cse --lower-to-stablehlo-pipeline --symbol-dce --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NAMED

// CHECK: builtin.module(func.func(chlo-legalize-to-stablehlo,cse),hlo-legalize-to-stablehlo,canonicalize{{{.*}}max-iterations=3{{.*}}})
// CHECK: stablehlo.multiply
// SPACES: builtin.module(cse,any(cse))
// EMPTY: chlo.square
// NAMED: builtin.module(cse,hlo-legalize-to-stablehlo,{{.*}},func.func(chlo-legalize-to-stablehlo),symbol-dce)
// NAMED: stablehlo.multiply
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
