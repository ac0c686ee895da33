// RUN: fp8-opt %s --linalg-tile-transposes | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d0, d2)>
// CHECK-DAG: #[[TO:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>

// CHECK-LABEL: func.func @transpose(
// CHECK: %[[A:.*]] = memref.expand_shape %arg0 {{\[\[}}0, 1], [2, 3]] output_shape [2, 16, 3, 16] : memref<32x48xf32> into memref<2x16x3x16xf32>
// CHECK: %[[B:.*]] = memref.expand_shape %arg1 {{\[\[}}0, 1], [2, 3]] output_shape [3, 16, 2, 16] : memref<48x32xf32> into memref<3x16x2x16xf32>
// CHECK: linalg.generic {indexing_maps = [#[[FROM]], #[[TO]]], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%[[A]] : memref<2x16x3x16xf32>) outs(%[[B]] : memref<3x16x2x16xf32>)
func.func @transpose(%a: memref<32x48xf32>, %r: memref<48x32xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<32x48xf32>) outs(%r : memref<48x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// No tile divides the sizes.
// CHECK-LABEL: func.func @odd(
// CHECK-NEXT: linalg.generic
func.func @odd(%a: memref<31x48xf32>, %r: memref<48x31xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<31x48xf32>) outs(%r : memref<48x31xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// CHECK-LABEL: func.func @straight(
// CHECK-NEXT: linalg.generic
func.func @straight(%a: memref<32x48xf32>, %r: memref<32x48xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<32x48xf32>) outs(%r : memref<32x48xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
