func.func @main(%a: tensor<4x8xf6E3M2FN>, %b: tensor<8x2xf6E3M2FN>, %c: tensor<4x2xf32>) -> (tensor<4x2xf6E3M2FN>, tensor<64xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F"> : tensor<64xf6E3M2FN>} : () -> tensor<64xf6E3M2FN>
  %values = "stablehlo.convert"(%codes) : (tensor<64xf6E3M2FN>) -> tensor<64xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf6E3M2FN>, tensor<8x2xf6E3M2FN>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf6E3M2FN>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf6E3M2FN>, tensor<4x2xf6E3M2FN>) -> tensor<4x2xf6E3M2FN>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf6E3M2FN>, tensor<4x2xf6E3M2FN>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf6E3M2FN>, tensor<64xf32>, tensor<4x2xi1>) -> ()
}
