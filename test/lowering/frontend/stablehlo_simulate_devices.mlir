// RUN: fp8-opt %s --stablehlo-simulate-devices='replicas=4 partitions=1' --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[A:.*]]: tensor<2xf8E5M2>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.bitcast_convert %[[A]] : (tensor<2xf8E5M2>) -> tensor<2xi8>
// CHECK-NEXT:    %[[G:.*]] = stablehlo.custom_call @mlir_fp8.exchange(%[[C]]) {{.*}}gather{{.*}}has_side_effect = true
// CHECK-NEXT:    %[[R:.*]] = stablehlo.bitcast_convert %[[G]] : (tensor<8xi8>) -> tensor<8xf8E5M2>
// CHECK-NEXT:    return %[[R]]
func.func @gather(%a: tensor<2xf8E5M2>) -> tensor<8xf8E5M2> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<2xf8E5M2>) -> tensor<8xf8E5M2>
  return %0 : tensor<8xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @sum(
// CHECK:         stablehlo.custom_call @mlir_fp8.exchange({{.*}}stack{{.*}} -> tensor<2x3xi16>
// CHECK:         stablehlo.while
// CHECK:         stablehlo.dynamic_slice
// CHECK:         stablehlo.map
// CHECK:         stablehlo.add {{.*}} : tensor<bf16>
func.func @sum(%a: tensor<3xbf16>) -> tensor<3xbf16> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = stablehlo.add %x, %y : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<3xbf16>) -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// -----

// CHECK-LABEL: func.func @id(
// CHECK:         %[[N:.*]] = stablehlo.custom_call @mlir_fp8.exchange() {{.*}}number
// CHECK:         stablehlo.divide %[[N]]
func.func @id() -> tensor<ui32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @others(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'stablehlo.collective_permute' is among 4 too, which are cross_replica numbers of 4 replicas and 1 partitions: simulate as many as it is written for}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 4]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
