func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %sa: tensor<f32>, %sb: tensor<f32>, %bias: tensor<32xbf16>) -> tensor<64x32xbf16> {
  %0 = "fp8.scaled_dot"(%a, %b, %sa, %sb, %bias) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, operand_type = bf16, dot_type = bf16, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>} : (tensor<64x128xf8E4M3FN>, tensor<128x32xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<32xbf16>) -> tensor<64x32xbf16>
  return %0 : tensor<64x32xbf16>
}
