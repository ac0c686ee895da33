// RUN: %python -c "import numpy as np; np.savez('%t.npz', arg0=np.float32(1 + 2.0**-12))"
// RUN: fp8-run %s --args %t.npz --print | filecheck %s --check-prefix=STRICT
// RUN: fp8-run %s --args %t.npz --print --allow-excess-precision | filecheck %s --check-prefix=EXCESS
// RUN: not fp8-run %s --args %t.npz --backend=interpreter --allow-excess-precision 2>&1 | filecheck %s --check-prefix=ERROR
// STRICT: 1.
// STRICT-NOT: 00024
// EXCESS: 1.00024
// ERROR: error: --allow-excess-precision goes with --backend=llvm

func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.convert %a : (tensor<f32>) -> tensor<bf16>
  %1 = stablehlo.convert %0 : (tensor<bf16>) -> tensor<f32>
  return %1 : tensor<f32>
}
