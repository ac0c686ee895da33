// MHLO is parsed as it is, passes through, and one of the passes legalizes it.
// RUN: fp8-opt %s | FileCheck %s --check-prefix=AS-IS
// RUN: fp8-opt %s --cse --hlo-legalize-to-stablehlo --canonicalize | FileCheck %s
// RUN: fp8-opt %s --pass-pipeline='builtin.module(cse,hlo-legalize-to-stablehlo)' | FileCheck %s
// RUN: fp8-opt %s | fp8-opt --lower-to-stablehlo-pipeline | FileCheck %s

// AS-IS: "mhlo.add"(%arg0, %arg0) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
// CHECK: stablehlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
// CHECK-NOT: mhlo
func.func @main(%arg0: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = mhlo.add %arg0, %arg0 : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}
