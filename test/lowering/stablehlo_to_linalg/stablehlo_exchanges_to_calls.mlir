// RUN: fp8-opt %s --stablehlo-simulate-devices='replicas=2 partitions=1' --stablehlo-exchanges-to-calls | filecheck %s

// CHECK:       mlir_fp8.exchanges = ["{\22kind\22:\22permute\22{{.*}}"]
// CHECK:       llvm.func @fp8_exchange(i64, !llvm.ptr, !llvm.ptr)
// CHECK:       func.func private @exchange_0(
// CHECK:         llvm.call @fp8_exchange(
// CHECK-LABEL: func.func @main(
// CHECK:         call @exchange_0(
func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
