// MLIR bytecode out and in, through files and pipes.
// RUN: fp8-opt %s --emit-bytecode -o %t.bc
// RUN: %python -c "import sys; assert open(sys.argv[1], 'rb').read(4) == b'ML\xefR'" %t.bc
// RUN: fp8-opt %t.bc --cse | FileCheck %s
// RUN: fp8-opt %s --emit-bytecode | fp8-opt --emit-bytecode | fp8-opt - | FileCheck %s
// RUN: fp8-opt %t.bc --split-input-file | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
// CHECK-NEXT: stablehlo.negate
func.func @main(%arg0: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = stablehlo.negate %arg0 : tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
