// Passes as flags: in order, with options, with one dash or two; upstream, StableHLO's and own.
// RUN: fp8-opt %s --cse --canonicalize -dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: fp8-opt %s --canonicalize -cse --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=SWAPPED
// RUN: fp8-opt %s '--canonicalize=max-iterations=2 top-down=false' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: fp8-opt %s '--canonicalize{max-iterations=2 top-down=false}' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: fp8-opt %s --hlo-legalize-to-stablehlo --cse --convert-small-floats-to-int=saturate=true --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: fp8-opt %s '--convert-small-floats-to-int{saturate}' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=SHORT

// A pass that runs on func.func is nested by itself.
// RUN: fp8-opt %s --chlo-legalize-to-stablehlo --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NESTED

// ORDER: builtin.module(cse,canonicalize{{.*}})
// SWAPPED: builtin.module(canonicalize{{.*}},cse)
// OPTIONS: builtin.module(canonicalize{{{.*}}max-iterations=2{{.*}}top-down=false})
// OWN: builtin.module(hlo-legalize-to-stablehlo,cse,convert-small-floats-to-int{saturate=true})
// SHORT: builtin.module(convert-small-floats-to-int{saturate})
// NESTED: builtin.module(func.func(chlo-legalize-to-stablehlo))
// NESTED-NOT: chlo.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
