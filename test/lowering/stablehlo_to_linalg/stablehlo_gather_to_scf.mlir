// RUN: fp8-opt %s --stablehlo-gather-to-scf --split-input-file --verify-diagnostics | filecheck %s

// An embedding's rows: each index is read and clamped once per row.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[TABLE:[^:]*]]: tensor<5x4xf8E4M3FN>, %[[INDICES:[^:]*]]: tensor<3x1xi32>)
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<3x4xf8E4M3FN>
// CHECK:         %[[RESULT:.*]] = scf.for %[[I:.*]] = %c0 to %c3 step %c1 iter_args(%[[OUTER:.*]] = %[[EMPTY]])
// CHECK-NEXT:      %[[LOADED:.*]] = tensor.extract %[[INDICES]][%[[I]], %c0]
// CHECK-NEXT:      %[[START:.*]] = arith.index_cast %[[LOADED]] : i32 to index
// CHECK-NEXT:      %[[LOW:.*]] = arith.maxsi %[[START]], %c0
// CHECK-NEXT:      %[[CLAMPED:.*]] = arith.minui %[[LOW]], %c4
// CHECK-NEXT:      %[[ROW:.*]] = arith.addi %[[CLAMPED]], %c0
// CHECK-NEXT:      %[[FILLED:.*]] = scf.for %[[J:.*]] = %c0 to %c4 step %c1 iter_args(%[[INNER:.*]] = %[[OUTER]])
// CHECK-NEXT:        %[[ELEMENT:.*]] = tensor.extract %[[TABLE]][%[[ROW]], %[[J]]]
// CHECK-NEXT:        %[[WRITTEN:.*]] = tensor.insert %[[ELEMENT]] into %[[INNER]][%[[I]], %[[J]]]
// CHECK-NEXT:        scf.yield %[[WRITTEN]]
// CHECK:           scf.yield %[[FILLED]]
// CHECK:         return %[[RESULT]]
func.func @rows(%table: tensor<5x4xf8E4M3FN>, %indices: tensor<3x1xi32>) -> tensor<3x4xf8E4M3FN> {
  %0 = "stablehlo.gather"(%table, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf8E4M3FN>, tensor<3x1xi32>) -> tensor<3x4xf8E4M3FN>
  return %0 : tensor<3x4xf8E4M3FN>
}

// -----

// Batching dims on both sides of the index vector, and unsigned indices.

// CHECK-LABEL: func.func @batched(
// CHECK-SAME:    %[[OPERAND:[^:]*]]: tensor<2x9x3xf32>, %[[GIVEN:[^:]*]]: tensor<3x1x2xui64>
// CHECK:         %[[LIMIT:.*]] = stablehlo.constant dense<9223372036854775807> : tensor<3x1x2xui64>
// CHECK-NEXT:    %[[LOW:.*]] = stablehlo.minimum %[[GIVEN]], %[[LIMIT]]
// CHECK-NEXT:    %[[INDICES:.*]] = stablehlo.convert %[[LOW]] : (tensor<3x1x2xui64>) -> tensor<3x1x2xi64>
// CHECK:         scf.for %[[I:[^ ]*]] = %c0 to %c3
// CHECK-NEXT:      scf.for %[[J:[^ ]*]] = %c0 to %c2
// CHECK-NEXT:        tensor.extract %[[INDICES]][%[[I]], %c0, %[[J]]]
// CHECK:             tensor.extract %[[OPERAND]][%[[J]], %{{.*}}, %[[I]]]
func.func @batched(%operand: tensor<2x9x3xf32>, %indices: tensor<3x1x2xui64>) -> tensor<3x2xf32> {
  %0 = "stablehlo.gather"(%operand, %indices) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
      operand_batching_dims = [0, 2], start_indices_batching_dims = [2, 0],
      start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x9x3xf32>, tensor<3x1x2xui64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<3x0xf32>
// CHECK-NEXT:    return %[[EMPTY]]
func.func @empty(%operand: tensor<5x4xf32>, %indices: tensor<3x1xi32>) -> tensor<3x0xf32> {
  %0 = "stablehlo.gather"(%operand, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 0>}> : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// -----

func.func @no_element(%operand: tensor<5x4xf32>, %indices: tensor<3x1xi32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{'stablehlo.gather' collapses dim 0 with a slice size of 0, so that there is no element to read for its result: give the dim a slice size of 1}}
  %0 = "stablehlo.gather"(%operand, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 0, 4>}> : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @dynamic(%operand: tensor<?xf32>, %indices: tensor<3x1xi32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.gather' has a value of dynamic shape, tensor<?xf32>, and only static shapes compile: specialize the shapes first (stablehlo-refine-shapes)}}
  %0 = "stablehlo.gather"(%operand, %indices) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>,
    slice_sizes = array<i64: 1>}> : (tensor<?xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
