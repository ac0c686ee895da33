func.func @f8E5M2(%a: tensor<4x8xf8E5M2>, %b: tensor<8x2xf8E5M2>, %c: tensor<4x2xf32>) -> (tensor<4x2xf8E5M2>, tensor<256xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xf8E5M2>} : () -> tensor<256xf8E5M2>
  %values = "stablehlo.convert"(%codes) : (tensor<256xf8E5M2>) -> tensor<256xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf8E5M2>, tensor<8x2xf8E5M2>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf8E5M2>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf8E5M2>, tensor<4x2xf8E5M2>) -> tensor<4x2xf8E5M2>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf8E5M2>, tensor<4x2xf8E5M2>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf8E5M2>, tensor<256xf32>, tensor<4x2xi1>) -> ()
}
func.func @f8E4M3FN(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E4M3FN>, %c: tensor<4x2xf32>) -> (tensor<4x2xf8E4M3FN>, tensor<256xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xf8E4M3FN>} : () -> tensor<256xf8E4M3FN>
  %values = "stablehlo.convert"(%codes) : (tensor<256xf8E4M3FN>) -> tensor<256xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3FN>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<4x2xf8E4M3FN>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf8E4M3FN>, tensor<256xf32>, tensor<4x2xi1>) -> ()
}
func.func @f8E4M3FNUZ(%a: tensor<4x8xf8E4M3FNUZ>, %b: tensor<8x2xf8E4M3FNUZ>, %c: tensor<4x2xf32>) -> (tensor<4x2xf8E4M3FNUZ>, tensor<256xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xf8E4M3FNUZ>} : () -> tensor<256xf8E4M3FNUZ>
  %values = "stablehlo.convert"(%codes) : (tensor<256xf8E4M3FNUZ>) -> tensor<256xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf8E4M3FNUZ>, tensor<8x2xf8E4M3FNUZ>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3FNUZ>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf8E4M3FNUZ>, tensor<4x2xf8E4M3FNUZ>) -> tensor<4x2xf8E4M3FNUZ>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf8E4M3FNUZ>, tensor<4x2xf8E4M3FNUZ>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf8E4M3FNUZ>, tensor<256xf32>, tensor<4x2xi1>) -> ()
}
func.func @f8E5M2FNUZ(%a: tensor<4x8xf8E5M2FNUZ>, %b: tensor<8x2xf8E5M2FNUZ>, %c: tensor<4x2xf32>) -> (tensor<4x2xf8E5M2FNUZ>, tensor<256xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xf8E5M2FNUZ>} : () -> tensor<256xf8E5M2FNUZ>
  %values = "stablehlo.convert"(%codes) : (tensor<256xf8E5M2FNUZ>) -> tensor<256xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf8E5M2FNUZ>, tensor<8x2xf8E5M2FNUZ>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf8E5M2FNUZ>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf8E5M2FNUZ>, tensor<4x2xf8E5M2FNUZ>) -> tensor<4x2xf8E5M2FNUZ>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf8E5M2FNUZ>, tensor<4x2xf8E5M2FNUZ>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf8E5M2FNUZ>, tensor<256xf32>, tensor<4x2xi1>) -> ()
}
func.func @f8E4M3B11FNUZ(%a: tensor<4x8xf8E4M3B11FNUZ>, %b: tensor<8x2xf8E4M3B11FNUZ>, %c: tensor<4x2xf32>) -> (tensor<4x2xf8E4M3B11FNUZ>, tensor<256xf32>, tensor<4x2xi1>) {
  %codes = "stablehlo.constant"() {value = dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xf8E4M3B11FNUZ>} : () -> tensor<256xf8E4M3B11FNUZ>
  %values = "stablehlo.convert"(%codes) : (tensor<256xf8E4M3B11FNUZ>) -> tensor<256xf32>
  %dot = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf8E4M3B11FNUZ>, tensor<8x2xf8E4M3B11FNUZ>) -> tensor<4x2xf32>
  %sum = "stablehlo.add"(%dot, %c) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %narrow = "stablehlo.convert"(%sum) : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3B11FNUZ>
  %twice = "stablehlo.add"(%narrow, %narrow) : (tensor<4x2xf8E4M3B11FNUZ>, tensor<4x2xf8E4M3B11FNUZ>) -> tensor<4x2xf8E4M3B11FNUZ>
  %same = "stablehlo.compare"(%twice, %narrow) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x2xf8E4M3B11FNUZ>, tensor<4x2xf8E4M3B11FNUZ>) -> tensor<4x2xi1>
  "func.return"(%twice, %values, %same) : (tensor<4x2xf8E4M3B11FNUZ>, tensor<256xf32>, tensor<4x2xi1>) -> ()
}
