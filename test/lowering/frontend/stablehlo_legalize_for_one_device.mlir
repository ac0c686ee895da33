// RUN: fp8-opt %s --stablehlo-legalize-for-one-device | filecheck %s
// RUN: not fp8-opt %S/../Inputs/two_processes.mlir --stablehlo-legalize-for-one-device 2>&1 | filecheck %s --check-prefix=TWO

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui32>
// CHECK-NEXT: return %arg0, %[[ZERO]]
func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_gather"(%a)
    {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}
    : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<3xf32>
  %2 = stablehlo.replica_id : tensor<ui32>
  return %1, %2 : tensor<3xf32>, tensor<ui32>
}

// CHECK-LABEL: func.func @started_and_done
// CHECK-NEXT: return %arg0
func.func @started_and_done(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<0> : tensor<1x1xi64>}
    : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "stablehlo.async_start"(%0) ({
  ^bb0(%x: tensor<3xf32>):
    %3 = "stablehlo.collective_permute"(%x)
      {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %3 : tensor<3xf32>
  }) : (tensor<3xf32>) -> !stablehlo.future<tensor<3xf32>>
  %2 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<3xf32>>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// TWO: two_processes.mlir:2:8: error: 'stablehlo.all_gather' is among several processes
