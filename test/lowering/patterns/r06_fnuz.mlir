// XLA:GPU: REJECT on CUDA (accepted on ROCm gfx942).
// Fused here: the formats are the target's business.
// RUN: fp8-opt %s --fp8-fuse-scaled-dot=remarks 2>&1 | FileCheck %s

// CHECK: remark: dot_general {{.*}}: fused into fp8.scaled_dot
// CHECK-NOT: remark:
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: "fp8.scaled_dot"(%arg0, %arg1) {{.*}} : (tensor<64x128xf8E4M3FNUZ>, tensor<128x32xf8E4M3FNUZ>) -> tensor<64x32xf32>
// CHECK-NEXT: return

func.func @main(%a: tensor<64x128xf8E4M3FNUZ>, %b: tensor<128x32xf8E4M3FNUZ>) -> tensor<64x32xf32> {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FNUZ>) -> tensor<64x128xf32>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FNUZ>) -> tensor<128x32xf32>
  %d = stablehlo.dot_general %aw, %bw, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}
