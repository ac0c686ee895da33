// A layer whose weights lie in parts on eight devices, as JAX writes it: each gathers them whole.
module @fsdp attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=8]>
  func.func @main(%x: tensor<4096x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %w: tensor<512x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<4096x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%x, %w)
        in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]
        out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"}
        (%rows: tensor<512x512xbf16>, %part: tensor<64x1024xbf16>) {
      %1 = "stablehlo.all_gather"(%part) <{all_gather_dim = 0 : i64,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>,
        use_global_device_ids}> : (tensor<64x1024xbf16>) -> tensor<512x1024xbf16>
      %2 = stablehlo.dot_general %rows, %1, contracting_dims = [1] x [0]
        : (tensor<512x512xbf16>, tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
      sdy.return %2 : tensor<512x1024xbf16>
    } : (tensor<4096x512xbf16>, tensor<512x1024xbf16>) -> tensor<4096x1024xbf16>
    return %0 : tensor<4096x1024xbf16>
  }
}
