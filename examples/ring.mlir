// Each of four devices passes its rows to the next one, and all of them add up what they have.
module @ring attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%a: tensor<2x3xf8E4M3FN>) -> (tensor<2x3xf8E4M3FN>, tensor<2x3xf32>) {
    %0 = "stablehlo.collective_permute"(%a) <{
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>
    }> : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf8E4M3FN>
    %1 = stablehlo.convert %a : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
    %2 = "stablehlo.all_reduce"(%1) <{
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids
    }> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %3 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0, %2 : tensor<2x3xf8E4M3FN>, tensor<2x3xf32>
  }
}
