// RUN: fp8-opt %s --stablehlo-legalize-manual-computations='partitions=2' --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[P:.*]] = stablehlo.custom_call @mlir_fp8.exchange(%[[A]]) {{.*}}shard{{.*}} : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.custom_call @mlir_fp8.exchange(%[[P]]) {{.*}}unshard{{.*}} : (tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[R]]
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<4xf32>) -> tensor<2xf32>
    %1 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%0) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>"}} : (tensor<2xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' has a sharding that cannot be simulated: export with Shardy}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%a) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
