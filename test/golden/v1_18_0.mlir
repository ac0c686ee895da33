// StableHLO 1.18.0: result_tilings of custom_call.
func.func @main(%a: tensor<64x256xf8E4M3FN>) -> tensor<64x256xf8E4M3FN> {
  %0 = "stablehlo.custom_call"(%a) <{api_version = 4 : i32, call_target_name = "tiled", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]}> : (tensor<64x256xf8E4M3FN>) -> tensor<64x256xf8E4M3FN>
  return %0 : tensor<64x256xf8E4M3FN>
}
