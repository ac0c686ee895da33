// RUN: fp8-opt %s --linalg-raise-to-contract | FileCheck %s
// RUN: fp8-opt %s --linalg-raise-to-contract --linalg-fuse-elementwise-ops --canonicalize \
// RUN:   | FileCheck %s --check-prefix=FUSED

#row = affine_map<(d0, d1, d2) -> (d0, d2)>
#column = affine_map<(d0, d1, d2) -> (d2, d1)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>
#same = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// The innermost iterator is parallel, the reduction is outside it.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func.func @matmul(
// CHECK: %[[REGION:.*]] = scf.execute_region
// CHECK: %[[A:.*]] = scf.execute_region
// CHECK-NEXT: scf.yield %arg0
// CHECK: %[[B:.*]] = scf.execute_region
// CHECK-NEXT: scf.yield %arg1
// CHECK: linalg.contract indexing_maps = [#[[ROW]], #[[COLUMN]], #[[RESULT]]]
// CHECK-SAME: ins(%[[A]], %[[B]] : tensor<2x3xf32>, tensor<3x4xf32>) outs(%arg2 : tensor<2x4xf32>)
// CHECK: return %[[REGION]]
func.func @matmul(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<3x4xf32>)
      outs(%arg2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @generic(
// CHECK: linalg.contract indexing_maps = [#[[ROW]], #[[COLUMN]], #[[RESULT]]]
func.func @generic(%arg0: tensor<2x3xi32>, %arg1: tensor<3x4xi32>, %arg2: tensor<2x4xi32>)
    -> tensor<2x4xi32> {
  %0 = linalg.generic {indexing_maps = [#row, #column, #result],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%arg0, %arg1 : tensor<2x3xi32>, tensor<3x4xi32>) outs(%arg2 : tensor<2x4xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %1 = arith.muli %b, %a : i32
    %2 = arith.addi %1, %c : i32
    linalg.yield %2 : i32
  } -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @batch_matmul(
// CHECK: linalg.contract
func.func @batch_matmul(%arg0: tensor<5x2x3xf32>, %arg1: tensor<5x3x4xf32>,
                        %arg2: tensor<5x2x4xf32>) -> tensor<5x2x4xf32> {
  %0 = linalg.batch_matmul ins(%arg0, %arg1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>)
      outs(%arg2 : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

// All others stay: another body,
// CHECK-LABEL: func.func @square(
// CHECK: linalg.generic
func.func @square(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [#same, #same, #none], iterator_types = ["reduction"]}
      ins(%arg0, %arg0 : tensor<4xf32>, tensor<4xf32>) outs(%arg1 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// a scalar operand,
// CHECK-LABEL: func.func @scalar(
// CHECK: linalg.generic
func.func @scalar(%arg0: tensor<4xf32>, %arg1: f32, %arg2: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [#same, #none, #none], iterator_types = ["reduction"]}
      ins(%arg0, %arg1 : tensor<4xf32>, f32) outs(%arg2 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %c, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// no sum, or one over a dimension of one operand only,
// CHECK-LABEL: func.func @no_sum(
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @no_sum(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%arg0, %arg0 : tensor<4xf32>, tensor<4xf32>) outs(%arg0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#same, #none, #none], iterator_types = ["reduction"]}
      ins(%arg0, %arg1 : tensor<4xf32>, tensor<f32>) outs(%arg1 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<f32>
}

// and i1, whose named sum would be `or`.
// CHECK-LABEL: func.func @parity(
// CHECK: linalg.generic
func.func @parity(%arg0: tensor<4xi1>, %arg1: tensor<4xi1>, %arg2: tensor<i1>) -> tensor<i1> {
  %0 = linalg.generic {indexing_maps = [#same, #same, #none], iterator_types = ["reduction"]}
      ins(%arg0, %arg1 : tensor<4xi1>, tensor<4xi1>) outs(%arg2 : tensor<i1>) {
  ^bb0(%a: i1, %b: i1, %c: i1):
    %1 = arith.muli %a, %b : i1
    %2 = arith.addi %c, %1 : i1
    linalg.yield %2 : i1
  } -> tensor<i1>
  return %0 : tensor<i1>
}

// Reshapes do not move past a contraction, whose operand is in its own region: fusion would
// recompute the exponential for every column.
// FUSED-LABEL: func.func @reshaped(
// FUSED: math.exp
// FUSED: tensor.collapse_shape
// FUSED: %[[PRODUCT:.*]] = linalg.contract
// FUSED: tensor.expand_shape %[[PRODUCT]]
// FUSED: arith.negf
func.func @reshaped(%arg0: tensor<2x3x1xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<2x4xf32>,
                    %arg3: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%arg0 : tensor<2x3x1xf32>) outs(%arg0 : tensor<2x3x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = math.exp %a : f32
    linalg.yield %4 : f32
  } -> tensor<2x3x1xf32>
  %5 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<2x3x1xf32> into tensor<2x3xf32>
  %1 = linalg.matmul ins(%5, %arg1 : tensor<2x3xf32>, tensor<3x4xf32>)
      outs(%arg2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [2, 2, 2]
      : tensor<2x4xf32> into tensor<2x2x2xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2 : tensor<2x2x2xf32>) outs(%arg3 : tensor<2x2x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.negf %a : f32
    linalg.yield %4 : f32
  } -> tensor<2x2x2xf32>
  return %3 : tensor<2x2x2xf32>
}
