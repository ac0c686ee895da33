// RUN: fp8-opt %s --linalg-collapse-dims | FileCheck %s

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#scalar = affine_map<(d0, d1, d2) -> ()>

// CHECK-LABEL: func.func @all_three(
// CHECK-NEXT: %[[A:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1, 2]] : memref<2x3x4xf32> into memref<24xf32>
// CHECK-NEXT: %[[B:.*]] = memref.collapse_shape %arg2 {{\[\[}}0, 1, 2]] : memref<2x3x4xf32> into memref<24xf32>
// CHECK-NEXT: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["parallel"]} ins(%[[A]], %arg1 : memref<24xf32>, memref<f32>) outs(%[[B]] : memref<24xf32>)
func.func @all_three(%a: memref<2x3x4xf32>, %s: memref<f32>, %r: memref<2x3x4xf32>) {
  linalg.generic {indexing_maps = [#all, #scalar, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %s : memref<2x3x4xf32>, memref<f32>) outs(%r : memref<2x3x4xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %0 = arith.mulf %in, %scale : f32
    linalg.yield %0 : f32
  }
  return
}

// A broadcast vector keeps its dimension; the two that it lacks collapse.
// CHECK-LABEL: func.func @bias(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins({{.*}}, %arg1 : memref<6x4xf32>, memref<4xf32>) outs({{.*}} : memref<6x4xf32>)
func.func @bias(%a: memref<2x3x4xf32>, %b: memref<4xf32>, %r: memref<2x3x4xf32>) {
  linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b : memref<2x3x4xf32>, memref<4xf32>) outs(%r : memref<2x3x4xf32>) {
  ^bb0(%in: f32, %add: f32, %out: f32):
    %0 = arith.addf %in, %add : f32
    linalg.yield %0 : f32
  }
  return
}

// A reduction over the last dimension: the two parallel ones collapse, the reduction stays.
// CHECK-LABEL: func.func @sum(
// CHECK: iterator_types = ["parallel", "reduction"]} ins({{.*}} : memref<6x4xf32>) outs({{.*}} : memref<6xf32>)
func.func @sum(%a: memref<2x3x4xf32>, %r: memref<2x3xf32>) {
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : memref<2x3x4xf32>) outs(%r : memref<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// Transposes, non-contiguous buffers and `linalg.index` are left alone.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: collapse_shape
func.func @kept(%a: memref<2x3x4xf32>, %t: memref<2x4x3xf32>, %s: memref<2x3x4xf32, strided<[32, 10, 2]>>, %i: memref<2x3x4xindex>, %r: memref<?x3x4xf32>) {
  linalg.generic {indexing_maps = [#all, #turned], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<2x3x4xf32>) outs(%t : memref<2x4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<2x3x4xf32>) outs(%s : memref<2x3x4xf32, strided<[32, 10, 2]>>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%i : memref<2x3x4xindex>) {
  ^bb0(%out: index):
    %0 = linalg.index 1 : index
    linalg.yield %0 : index
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%r : memref<?x3x4xf32>) {
  ^bb0(%out: f32):
    linalg.yield %out : f32
  }
  return
}

// A subview: two dimensions are contiguous, the row stride is larger than the row. The rows of the
// fill stay, as part of it is overwritten.
// CHECK-LABEL: func.func @view(
// CHECK: memref.collapse_shape %arg1 {{\[\[}}0], [1, 2]] : memref<4x4x5xf32> into memref<4x20xf32>
// CHECK: memref.collapse_shape {{.*}} {{\[\[}}0], [1, 2]] : memref<4x3x5xf32, strided<[20, 5, 1], offset: 5>> into memref<4x15xf32, strided<[20, 1], offset: 5>>
func.func @view(%a: memref<4x3x5xf32>, %r: memref<4x4x5xf32>, %value: f32) {
  linalg.generic {indexing_maps = [#scalar, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%value : f32) outs(%r : memref<4x4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  %part = memref.subview %r[0, 1, 0] [4, 3, 5] [1, 1, 1] : memref<4x4x5xf32> to memref<4x3x5xf32, strided<[20, 5, 1], offset: 5>>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<4x3x5xf32>) outs(%part : memref<4x3x5xf32, strided<[20, 5, 1], offset: 5>>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// Columns are not contiguous across rows.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT: memref.collapse_shape
// CHECK: return
func.func @columns(%a: memref<4x3xf32>, %r: memref<4x5xf32>) {
  %part = memref.subview %r[0, 1] [4, 3] [1, 1] : memref<4x5xf32> to memref<4x3xf32, strided<[5, 1], offset: 1>>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x3xf32>) outs(%part : memref<4x3xf32, strided<[5, 1], offset: 1>>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
