// RUN: fp8-run %s --random 0 --threads=3 | FileCheck %s
// RUN: not fp8-run %s --random 0 --threads=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not fp8-run %s --random 0 --threads=2 --backend=interpreter 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: env MLIR_FP8_NUM_THREADS=many not fp8-run %s --random 0 2>&1 | FileCheck %s --check-prefix=VARIABLE

// CHECK: res0 : tensor<4xf32>
// ZERO: error: threads=0: give a number of threads from 1 to 1024, or None
// OTHER: error: --threads goes with --backend=llvm
// VARIABLE: error: MLIR_FP8_NUM_THREADS=many: give a number of threads from 1 to 1024
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
