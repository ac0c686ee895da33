// RUN: fp8-opt %s --lower-to-llvm-pipeline | fp8-translate --mlir-to-llvmir | FileCheck %s
// RUN: not fp8-translate --mlir-to-llvmir %s 2>&1 | FileCheck %s --check-prefix=NOT-LOWERED --match-full-lines

// CHECK: define void @main(ptr %0, ptr %1)
// CHECK-NOT: f8E
// NOT-LOWERED: {{.*}}translate-llvmir.mlir:7:1: error: 'func.func' is not lowered to the LLVM dialect: run fp8-opt --lower-to-llvm-pipeline first
func.func @main(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xf32> {
  %0 = stablehlo.convert %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
