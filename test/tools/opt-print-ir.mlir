// What is shown while the passes run: upstream ones and own ones alike, on standard error.
// RUN: fp8-opt %s --cse --hlo-legalize-to-stablehlo --mlir-print-ir-before-all -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: fp8-opt %s --cse --convert-small-floats-to-int=saturate=true --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: fp8-opt %s --cse --canonicalize --hlo-legalize-to-stablehlo --mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: fp8-opt %s --chlo-legalize-to-stablehlo --mlir-print-ir-after-all --mlir-print-ir-module-scope -o %t 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: fp8-opt %s --cse --mlir-print-ir-after-all -o %t --mlir-print-op-generic 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: fp8-opt %s --cse --hlo-legalize-to-stablehlo --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: fp8-opt %s --cse -o %t 2> %t.err
// RUN: test ! -s %t.err

// BEFORE: IR Dump Before CSEPass: cse
// BEFORE: arith.constant 1
// BEFORE: arith.constant 1
// BEFORE: IR Dump Before HloLegalizeToStablehlo: hlo-legalize-to-stablehlo
// BEFORE: arith.constant 1
// BEFORE-NOT: arith.constant 1
// AFTER: IR Dump After CSEPass: cse
// AFTER: IR Dump After ConvertSmallFloatsToInt: convert-small-floats-to-int{saturate=true}
// CHANGE: IR Dump After CSEPass
// CHANGE-NOT: IR Dump After
// SCOPE: IR Dump After ChloLegalizeToStablehloPass
// SCOPE: module {
// GENERIC: IR Dump After CSEPass
// GENERIC: "builtin.module"
// TIMING: Execution time report
// TIMING: CSEPass
// TIMING: HloLegalizeToStablehlo
func.func @main() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}
