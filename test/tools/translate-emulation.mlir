// RUN: fp8-translate --serialize --target=0.9.0 --emulate-for-target %s -o %t.bc
// RUN: fp8-translate --deserialize --print-stablehlo-version %t.bc | filecheck %s
// RUN: fp8-translate --deserialize --raise-emulation %t.bc | filecheck %s --check-prefix=RAISED
// RUN: fp8-run %t.bc --random 0
// RUN: not fp8-translate --serialize --target=0.9.0 %s 2>&1 | filecheck %s --check-prefix=PLAIN
// RUN: not fp8-translate --serialize --emulate-for-target %s 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not fp8-translate --serialize --raise-emulation %s 2>&1 | filecheck %s --check-prefix=RAISE
// RUN: fp8-translate --serialize --target=1.8.0 --emulate-for-target %s | fp8-translate --deserialize | filecheck %s --check-prefix=RAISED

// CHECK: // Reading portable artifact with StableHLO version: 0.9.0
// CHECK: func.func @main(%arg0: tensor<3xui8> {mlir_fp8.emulated = "f8E3M4"}) -> tensor<3xf32>
// CHECK: stablehlo.constant {mlir_fp8.emulated = ["f8E3M4"]} dense<[1, 2, 255]> : tensor<3xui8>
// RAISED: func.func @main(%arg0: tensor<3xf8E3M4>) -> tensor<3xf32>
// RAISED-NEXT: stablehlo.constant {{.*}} : tensor<3xf8E3M4>
// PLAIN: StableHLO 0.9.0 cannot hold it: use target 1.7.0 or later
// TARGET: error: --emulate-for-target goes with --serialize --target=x.y.z
// RAISE: error: --raise-emulation goes with --deserialize
func.func @main(%a: tensor<3xf8E3M4>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense_resource<blob> : tensor<3xf8E3M4>
  %1 = stablehlo.add %a, %0 : tensor<3xf8E3M4>
  %2 = stablehlo.convert %1 : (tensor<3xf8E3M4>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x010000000102FF"
    }
  }
#-}
