// StableHLO 1.13.0: custom_call on buffers.
func.func @main(%a: memref<4xf8E4M3FN>) -> memref<4xf8E4M3FN> {
  %0 = stablehlo.custom_call @in_place(%a) {api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf8E4M3FN>) -> memref<4xf8E4M3FN>
  return %0 : memref<4xf8E4M3FN>
}
