// since 1.20.0: a convolution of two f8 types.
func.func @main(%a: tensor<1x8x8x4xf8E4M3FN>, %b: tensor<3x3x4x16xf8E5M2>) -> tensor<1x3x6x16xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf8E4M3FN>, tensor<3x3x4x16xf8E5M2>) -> tensor<1x3x6x16xf32>
  return %0 : tensor<1x3x6x16xf32>
}
