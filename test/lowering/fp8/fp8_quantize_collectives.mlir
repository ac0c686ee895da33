// RUN: fp8-opt %s --fp8-quantize-collectives=min-bytes=0 --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-quantize-collectives="min-bytes=0 scales=row" --split-input-file | FileCheck %s --check-prefix=ROW
// RUN: fp8-opt %s --fp8-quantize-collectives="min-bytes=0 scales=shard as-bits" --split-input-file | FileCheck %s --check-prefix=SHARD
// RUN: fp8-opt %s --fp8-quantize-collectives="min-bytes=200 remarks" --split-input-file 2>&1 | FileCheck %s --check-prefix=REMARKS

// One scale is that of all devices of a group; codes are gathered, and read after.
// CHECK-LABEL: func.func @gather(
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: stablehlo.reduce({{.*}} stablehlo.maximum across dimensions = [0, 1]
// CHECK: "stablehlo.all_reduce"({{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: stablehlo.maximum
// An infinity makes the scale NaN, and so all that it is of.
// CHECK: stablehlo.is_finite
// CHECK: %[[S:.*]] = stablehlo.select {{.*}} : tensor<i1>, tensor<f32>
// CHECK: %[[Q:.*]] = "fp8.quantize"(%[[X]], %[[S]]) {saturate}
// CHECK: %[[G:.*]] = "stablehlo.all_gather"(%[[Q]]) {{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
// CHECK: %[[D:.*]] = "fp8.dequantize"(%[[G]], %[[S]]) {mlir_fp8.wire = "{{\[\[}}0, 1], [2, 3]]"}
// CHECK: stablehlo.convert %[[D]] : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// A second gather moves the codes that came; the scale is then one of each device.
// CHECK-NOT: "fp8.quantize"
// CHECK: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<1x1xf32>) -> tensor<1x2xf32>
// CHECK: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<8x8xf8E4M3FN>) -> tensor<8x16xf8E4M3FN>
// ROW-LABEL: func.func @gather(
// ROW: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<4x1xf32>) -> tensor<8x1xf32>
// SHARD-LABEL: func.func @gather(
// SHARD: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<1x1xf32>) -> tensor<2x1xf32>
// SHARD: %[[BITS:.*]] = stablehlo.bitcast_convert {{.*}} -> tensor<4x8xui8>
// SHARD: "stablehlo.all_gather"(%[[BITS]]) {{.*}} -> tensor<8x8xui8>
// REMARKS: 'stablehlo.all_gather' (tensor<4x8xbf16>) -> tensor<8x8xbf16> stays wide: it sends 64 bytes a device (min-bytes 200)
func.func @gather(%x: tensor<4x8xbf16>) -> tensor<8x16xbf16> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xbf16>) -> tensor<8x8xbf16>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<8x8xbf16>) -> tensor<8x16xbf16>
  return %1 : tensor<8x16xbf16>
}

// -----

// Rows that are cut have the scales of all senders.
// CHECK-LABEL: func.func @exchange(
// CHECK: "stablehlo.all_to_all"({{.*}}) {{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<8x4xf8E4M3FN>
// ROW-LABEL: func.func @exchange(
// ROW: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<4x1xf32>) -> tensor<8x1xf32>
// ROW: "stablehlo.all_to_all"({{.*}}) {{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<8x4xf8E4M3FN>
func.func @exchange(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A scale goes with what it is of; whoever gets nothing has zeros of both.
// CHECK-LABEL: func.func @permute(
// CHECK-NOT: all_reduce
// CHECK: "stablehlo.collective_permute"({{.*}}) {{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK: "stablehlo.collective_permute"({{.*}}) {{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN>
// CHECK: "stablehlo.collective_broadcast"({{.*}}) {{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK: "stablehlo.collective_broadcast"({{.*}}) {{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN>
func.func @permute(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Sums: terms in f8 to where they are added in f32. Of two operands one is of integers.
// CHECK-LABEL: func.func @sums(
// CHECK: "stablehlo.all_to_all"({{.*}}) {{.*}} : (tensor<2x3x4xf8E4M3FN>) -> tensor<2x3x4xf8E4M3FN>
// CHECK: stablehlo.reduce({{.*}} applies stablehlo.add across dimensions = [0] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<3x4xf32>) -> tensor<3x4xbf16>
// An odd number of elements is padded; the sums are gathered in f8 again.
// CHECK: stablehlo.pad {{.*}} : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: "stablehlo.all_to_all"({{.*}}) {{.*}} : (tensor<2x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
// CHECK: "stablehlo.all_gather"({{.*}}) {{.*}} : (tensor<1x2xf8E4M3FN>) -> tensor<2x2xf8E4M3FN>
// CHECK: stablehlo.slice {{.*}} : (tensor<4xf32>) -> tensor<3xf32>
// CHECK: "stablehlo.all_reduce"({{.*}}
// CHECK: (tensor<3xf32>) -> tensor<3xf32>
// REMARKS: 'stablehlo.all_reduce' (tensor<3xf32>) -> tensor<3xf32> stays wide: it combines by maximum, which is no sum
// REMARKS: 'stablehlo.all_reduce' (tensor<3xf32>) -> tensor<3xf32> stays wide: it has mlir_fp8.skip
func.func @sums(%x: tensor<6x4xbf16>, %y: tensor<3xf32>) -> (tensor<3x4xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<6x4xbf16>) -> tensor<3x4xbf16>
  %1 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  %3 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {mlir_fp8.skip} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3x4xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Without collectives: codes are held on the sharded side, and gathered by the program's constraint.
// CHECK-LABEL: func.func @reshard(
// CHECK: %[[Q:.*]] = "fp8.quantize"({{.*}}) {mhlo.sharding = "{devices=[1,2]<=[2]}", saturate}
// CHECK: %[[HELD:.*]] = stablehlo.custom_call @Sharding(%[[Q]]) {mhlo.sharding = "{devices=[1,2]<=[2]}"} : (tensor<4x8xf8E4M3FN>)
// CHECK: %[[WHOLE:.*]] = stablehlo.custom_call @Sharding(%[[HELD]]) {mhlo.sharding = "{replicated}"} : (tensor<4x8xf8E4M3FN>)
// CHECK: "fp8.dequantize"(%[[WHOLE]],
// CHECK-NOT: @Sharding({{.*}}bf16
// ROW-LABEL: func.func @reshard(
// ROW: stablehlo.custom_call @Sharding({{.*}}) {mhlo.sharding = "{replicated}"} : (tensor<4x1xf32>)
// SHARD-LABEL: func.func @reshard(
// SHARD: stablehlo.custom_call @Sharding({{.*}}) {mhlo.sharding = "{replicated}"} : (tensor<1x2xf32>)
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @reshard(%x: tensor<4x8xbf16> {mhlo.sharding = "{devices=[1,2]<=[2]}"}) -> tensor<4x8xbf16> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
    return %0 : tensor<4x8xbf16>
  }
}

// -----

// Dimensions that XLA may choose: what is moved is not known.
// CHECK-LABEL: func.func @open(
// CHECK-NEXT: stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{replicated}"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @open(%x: tensor<4x8xbf16> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> tensor<4x8xbf16> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{replicated}"} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
    return %0 : tensor<4x8xbf16>
  }
}
