// RUN: fp8-opt %s --chlo-broadcast-select-expander | filecheck %s
// RUN: not fp8-opt %S/../Inputs/broadcast_select_dynamic.mlir --chlo-broadcast-select-expander 2>&1 | filecheck %s --check-prefix=DYNAMIC

// DYNAMIC: error: 'chlo.broadcast_select' on tensor<?xf32> needs a static shape: refine shapes first

// CHECK-LABEL: @rows
// CHECK: %[[P:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<5xi1>) -> tensor<3x5xi1>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN>
// CHECK: stablehlo.select %[[P]], %arg1, %[[B]] : tensor<3x5xi1>, tensor<3x5xf8E4M3FN>
func.func @rows(%p: tensor<5xi1>, %a: tensor<3x5xf8E4M3FN>, %b: tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN> {
  %0 = "chlo.broadcast_select"(%p, %a, %b) : (tensor<5xi1>, tensor<3x5xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3x5xf8E4M3FN>
  return %0 : tensor<3x5xf8E4M3FN>
}
