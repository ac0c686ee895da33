// RUN: fp8-opt %s --stablehlo-scatter-to-scf --split-input-file --verify-diagnostics | filecheck %s

// The rows of an embedding's gradient: one bounds check per row, none per element.

// CHECK-LABEL: func.func @add_rows(
// CHECK-SAME:    %[[INPUT:[^:]*]]: tensor<5x4xf32>, %[[INDICES:[^:]*]]: tensor<3x1xi32>, %[[UPDATES:[^:]*]]: tensor<3x4xf32>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK:         %[[RESULT:.*]] = scf.for %[[I:.*]] = %[[C0]] to %[[C3]] step %[[C1]] iter_args(%[[OUTER:.*]] = %[[INPUT]])
// CHECK-NEXT:      %[[LOADED:.*]] = tensor.extract %[[INDICES]][%[[I]], %[[C0]]]
// CHECK-NEXT:      %[[START:.*]] = arith.index_cast %[[LOADED]] : i32 to index
// CHECK-NEXT:      %[[ROW:.*]] = arith.addi %[[START]], %[[C0]]
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %[[C5]]
// CHECK-NEXT:      %[[CHOSEN:.*]] = scf.if %[[INSIDE]] -> (tensor<5x4xf32>) {
// CHECK-NEXT:        %[[FILLED:.*]] = scf.for %[[J:.*]] = %[[C0]] to %[[C4]] step %[[C1]] iter_args(%[[INNER:.*]] = %[[OUTER]])
// CHECK-NEXT:          %[[OLD:.*]] = tensor.extract %[[INNER]][%[[ROW]], %[[J]]]
// CHECK-NEXT:          %[[NEW:.*]] = tensor.extract %[[UPDATES]][%[[I]], %[[J]]]
// CHECK-NEXT:          %[[X:.*]] = tensor.from_elements %[[OLD]] : tensor<f32>
// CHECK-NEXT:          %[[Y:.*]] = tensor.from_elements %[[NEW]] : tensor<f32>
// CHECK-NEXT:          %[[SUM:.*]] = stablehlo.add %[[X]], %[[Y]] : tensor<f32>
// CHECK-NEXT:          %[[ELEMENT:.*]] = tensor.extract %[[SUM]][]
// CHECK-NEXT:          %[[WRITTEN:.*]] = tensor.insert %[[ELEMENT]] into %[[INNER]][%[[ROW]], %[[J]]]
// CHECK-NEXT:          scf.yield %[[WRITTEN]]
// CHECK:             scf.yield %[[FILLED]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %[[OUTER]]
// CHECK:           scf.yield %[[CHOSEN]]
// CHECK:         return %[[RESULT]]

func.func @add_rows(%input: tensor<5x4xf32>, %indices: tensor<3x1xi32>, %updates: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = "stablehlo.scatter"(%input, %indices, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// Batching dims on both sides of the index vector: from update dims straight to input dims.

// CHECK-LABEL: func.func @batched(
// CHECK-SAME:    %[[INPUT:[^:]*]]: tensor<2x9x3xf32>, %[[INDICES:[^:]*]]: tensor<3x1x2xi64>
// CHECK:         scf.for %[[I:[^ ]*]] = %{{.*}} to %c3
// CHECK-NEXT:      scf.for %[[J:[^ ]*]] = %{{.*}} to %c2
// CHECK-NEXT:        tensor.extract %[[INDICES]][%[[I]], %c0, %[[J]]]
// CHECK:             tensor.extract %{{.*}}[%[[J]], %{{.*}}, %[[I]]] : tensor<2x9x3xf32>
func.func @batched(%input: tensor<2x9x3xf32>, %indices: tensor<3x1x2xi64>, %updates: tensor<3x2xf32>) -> tensor<2x9x3xf32> {
  %0 = "stablehlo.scatter"(%input, %indices, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0, 2], scatter_indices_batching_dims = [2, 0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<2x9x3xf32>, tensor<3x1x2xi64>, tensor<3x2xf32>) -> tensor<2x9x3xf32>
  return %0 : tensor<2x9x3xf32>
}

// -----

// Unsigned indices are widened before any arithmetic; ui64 ones saturate below 2^63, else an index
// just below 2^64 plus a window offset would wrap to 0.

// CHECK-LABEL: func.func @unsigned(
// CHECK:         %[[LIMIT:.*]] = stablehlo.constant dense<9223372036854775807> : tensor<1xui64>
// CHECK-NEXT:    %[[LOW:.*]] = stablehlo.minimum %{{.*}}, %[[LIMIT]] : tensor<1xui64>
// CHECK-NEXT:    stablehlo.convert %[[LOW]] : (tensor<1xui64>) -> tensor<1xi64>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<1xui8>) -> tensor<1xi64>
func.func @unsigned(%input: tensor<9xf32>, %wide: tensor<1xui64>, %narrow: tensor<1xui8>, %updates: tensor<4xf32>) -> tensor<9xf32> {
  %0 = "stablehlo.scatter"(%input, %wide, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<9xf32>, tensor<1xui64>, tensor<4xf32>) -> tensor<9xf32>
  %1 = "stablehlo.scatter"(%0, %narrow, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %old : tensor<f32>
  }) : (tensor<9xf32>, tensor<1xui8>, tensor<4xf32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}

// -----

// A single update, two inputs, constants and regions in the body, and a computation wider than the
// inputs. The bounds check is a loop of trip count 0 or 1, so that buffers are copied before it.

// CHECK-LABEL: func.func @one_update(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<3xf8E4M3FN>, %[[B:[^:]*]]: tensor<3xi32>
// CHECK:         %[[WIDE:.*]] = stablehlo.convert %[[A]] : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
// CHECK:         stablehlo.convert %{{.*}} : (tensor<f8E4M3FN>) -> tensor<f32>
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult
// CHECK-NEXT:    %[[TRIPS:.*]] = arith.index_castui %[[INSIDE]] : i1 to index
// CHECK-NEXT:    %[[LOOP:.*]]:2 = scf.for %{{.*}} = %c0 to %[[TRIPS]] step %c1 iter_args(%{{.*}} = %[[WIDE]], %{{.*}} = %[[B]])
// CHECK:           stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK:           "stablehlo.if"
// CHECK:             stablehlo.return
// CHECK:           scf.yield
// CHECK:         return %[[LOOP]]#0, %[[LOOP]]#1

func.func @one_update(%a: tensor<3xf8E4M3FN>, %b: tensor<3xi32>, %index: tensor<1xi16>, %u: tensor<f8E4M3FN>, %v: tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0:2 = "stablehlo.scatter"(%a, %b, %index, %u, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<i32>, %u0: tensor<f32>, %v0: tensor<i32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %more = stablehlo.compare GT, %a0, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = "stablehlo.if"(%more) ({
      stablehlo.return %u0 : tensor<f32>
    }, {
      %2 = stablehlo.multiply %a0, %two : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1, %v0 : tensor<f32>, tensor<i32>
  }) : (tensor<3xf8E4M3FN>, tensor<3xi32>, tensor<1xi16>, tensor<f8E4M3FN>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}

// -----

// Nothing to update, or nothing to be updated.

// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<3x2xf32>, %[[B:[^:]*]]: tensor<0x2xf32>
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @empty(%a: tensor<3x2xf32>, %b: tensor<0x2xf32>, %none: tensor<0x1xi32>, %one: tensor<1x1xi32>, %u: tensor<0x2xf32>, %v: tensor<1x2xf32>) -> (tensor<3x2xf32>, tensor<0x2xf32>) {
  %0 = "stablehlo.scatter"(%a, %none, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<0x1xi32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.scatter"(%b, %one, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<0x2xf32>, tensor<1x1xi32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<0x2xf32>
}

// -----

func.func @dynamic(%input: tensor<?xf32>, %indices: tensor<1x1xi32>, %updates: tensor<1xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'stablehlo.scatter' has a value of dynamic shape, tensor<?xf32>, and only static shapes compile: specialize the shapes first (stablehlo-refine-shapes)}}
  %0 = "stablehlo.scatter"(%input, %indices, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<?xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @quantized(%input: tensor<3x!quant.uniform<i8:f32, 0.5>>, %indices: tensor<1x1xi32>, %updates: tensor<1x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @+1 {{whose elements are not plain numbers: lower quantized types first (stablehlo-legalize-quant-to-math)}}
  %0 = "stablehlo.scatter"(%input, %indices, %updates) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<!quant.uniform<i8:f32, 0.5>>, %new: tensor<!quant.uniform<i8:f32, 0.5>>):
    stablehlo.return %new : tensor<!quant.uniform<i8:f32, 0.5>>
  }) : (tensor<3x!quant.uniform<i8:f32, 0.5>>, tensor<1x1xi32>, tensor<1x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 0.5>>
}
