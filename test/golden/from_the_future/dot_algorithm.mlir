// since 1.21.0: an algorithm of three f8 products.
func.func @main(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
