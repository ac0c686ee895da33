// RUN: fp8-opt %s --legalize-sizes-to-stablehlo --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[N]] : (tensor<i32>) -> tensor<i64>
// CHECK: stablehlo.multiply %[[WIDE]]
// CHECK: %[[S:.*]] = stablehlo.concatenate {{.*}} -> tensor<2xi64>
// CHECK: stablehlo.dynamic_reshape %arg0, %[[S]] : (tensor<?x4xf32>, tensor<2xi64>)
// CHECK-NOT: arith.
// CHECK-NOT: tensor.
func.func @sizes(%arg0: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i64
  %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
  %0 = arith.index_cast %dim : index to i64
  %1 = arith.muli %0, %c2 : i64
  %2 = tensor.from_elements %1, %c2 : tensor<2xi64>
  %3 = stablehlo.dynamic_reshape %arg0, %2 : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}

// -----

// A witness is an assertion, and what it allows stands behind it.
// CHECK-LABEL: func.func @shapes(
// CHECK: stablehlo.custom_call @shape_assertion({{.*}}) {error_message = "required broadcastable shapes: [{0}, {1}] and [{2}]", has_side_effect = true}
// CHECK: stablehlo.dynamic_broadcast_in_dim %arg1, {{.*}} (tensor<?xf32>, tensor<2xi64>)
// CHECK-NOT: shape.
func.func @shapes(%arg0: tensor<?x?xf32>, %arg1: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = shape.shape_of %arg0 : tensor<?x?xf32> -> tensor<2xindex>
  %1 = shape.shape_of %arg1 : tensor<?xf32> -> tensor<1xindex>
  %2 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<1xindex>
  %3 = shape.assuming %2 -> (tensor<?x?xf32>) {
    %4 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %arg1, %4, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    shape.assuming_yield %5 : tensor<?x?xf32>
  }
  return %3 : tensor<?x?xf32>
}

// -----

// Without sizes, arith is none of this pass's business; nor is it inside other dialects' regions.
// CHECK-LABEL: func.func @values(
// CHECK: arith.addf
func.func @values(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @inside(
// CHECK: stablehlo.get_dimension_size
// CHECK: arith.addf
func.func @inside(%arg0: tensor<?xf32>, %arg1: tensor<4xf32>) -> (tensor<1xi64>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
  %0 = arith.index_cast %dim : index to i64
  %1 = tensor.from_elements %0 : tensor<1xi64>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%arg1 : tensor<4xf32>) {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %1, %2 : tensor<1xi64>, tensor<4xf32>
}
