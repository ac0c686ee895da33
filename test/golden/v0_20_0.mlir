// StableHLO 0.20.0: dynamic_conv takes its padding as an operand only.
func.func @main(%a: tensor<1x8x8x4xf8E5M2>, %b: tensor<3x3x4x16xf8E5M2>, %pad: tensor<2x2xi32>) -> tensor<1x?x?x16xf32> {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %pad) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf8E5M2>, tensor<3x3x4x16xf8E5M2>, tensor<2x2xi32>) -> tensor<1x?x?x16xf32>
  return %0 : tensor<1x?x?x16xf32>
}
