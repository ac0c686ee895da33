// XLA:GPU: REJECT. cuBLASLt needs at least one E4M3 operand; raw-fp8 dot is turned into an f16 dot instead.
// Fused: a kernel of ours multiplies them.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK-NOT: not fused
// CHECK: "fp8.scaled_dot"(%{{.*}}, %{{.*}})
// CHECK-NOT: stablehlo.dot_general

func.func @main(%a: tensor<64x128xf8E5M2>, %b: tensor<128x32xf8E5M2>) -> tensor<64x32xf8E5M2> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x128xf8E5M2>, tensor<128x32xf8E5M2>) -> tensor<64x32xf8E5M2>
  return %d : tensor<64x32xf8E5M2>
}
