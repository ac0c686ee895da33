// XLA:GPU: REJECT. cuBLASLt needs at least one E4M3 operand; raw-fp8 dot is turned into an f16 dot instead.
// Refused here, too.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: {{.*}}.mlir:{{[0-9]+}}:8: remark: dot_general {{.*}}: not fused
// CHECK-NEXT: remark: dot: both operands are f8E5M2, {{.*}} [both-e5m2]; quantize one of them to f8E4M3FN
// CHECK-NOT: fp8.scaled_dot
// CHECK: stablehlo.dot_general

func.func @main(%a: tensor<64x128xf8E5M2>, %b: tensor<128x32xf8E5M2>) -> tensor<64x32xf8E5M2> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xf8E5M2>, tensor<128x32xf8E5M2>) -> tensor<64x32xf8E5M2>
  return %d : tensor<64x32xf8E5M2>
}
