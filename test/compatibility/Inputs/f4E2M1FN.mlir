func.func @main(%a: tensor<4x8xf4E2M1FN>, %b: tensor<8x2xf4E2M1FN>, %c: tensor<4x2xf32>) -> (tensor<4x2xf4E2M1FN>, tensor<16xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F"> : tensor<16xf4E2M1FN>} : () -> tensor<16xf4E2M1FN>
  %values = "stablehlo.convert"(%codes) : (tensor<16xf4E2M1FN>) -> tensor<16xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf4E2M1FN>, tensor<8x2xf4E2M1FN>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf4E2M1FN>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf4E2M1FN>, tensor<4x2xf4E2M1FN>) -> tensor<4x2xf4E2M1FN>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf4E2M1FN>, tensor<4x2xf4E2M1FN>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf4E2M1FN>, tensor<16xf32>, tensor<4x2xi1>) -> ()
}
