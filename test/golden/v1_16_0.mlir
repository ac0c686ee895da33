// StableHLO 1.16.0: replica groups as axes of a mesh.
func.func @main(%a: tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "y">]>}> : (tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}
