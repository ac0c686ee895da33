// Batching dimensions of gather came with StableHLO 1.1.0; an older target gets the older form.
// RUN: fp8-translate --serialize --target=0.9.0 %s | fp8-translate --deserialize | FileCheck %s --check-prefix=OLD
// RUN: fp8-translate --serialize --target=current %s | fp8-translate --deserialize | FileCheck %s --check-prefix=NEW

// OLD: stablehlo.iota
// OLD: stablehlo.gather
// OLD-NOT: batching_dims
// NEW-NOT: stablehlo.iota
// NEW: operand_batching_dims = [0]
func.func @main(%operand: tensor<3x5xf8E4M3FN>, %indices: tensor<3x2x1xi32>) -> tensor<3x2xf8E4M3FN> {
  %0 = "stablehlo.gather"(%operand, %indices) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1>
  }> : (tensor<3x5xf8E4M3FN>, tensor<3x2x1xi32>) -> tensor<3x2xf8E4M3FN>
  return %0 : tensor<3x2xf8E4M3FN>
}
