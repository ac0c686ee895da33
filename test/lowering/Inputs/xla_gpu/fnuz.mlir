func.func @main(%a: tensor<64x128xf8E4M3FNUZ>, %b: tensor<128x32xf8E4M3FNUZ>) -> tensor<64x32xf32> {
  %0 = "fp8.scaled_dot"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : (tensor<64x128xf8E4M3FNUZ>, tensor<128x32xf8E4M3FNUZ>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
