// RUN: fp8-opt %s --linalg-reorder-reductions | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#first = affine_map<(d0, d1) -> (d0)>

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @columns(
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[LAST]]], iterator_types = ["reduction", "parallel"]} ins(%arg0 : memref<3x4xf32>) outs(%arg1 : memref<4xf32>)
func.func @columns(%a: memref<3x4xf32>, %r: memref<4xf32>) {
  linalg.generic {indexing_maps = [#turned, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK: iterator_types = ["parallel", "reduction"]}
func.func @rows(%a: memref<3x4xf32>, %r: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x4xf32>) outs(%r : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A convolution's innermost loop becomes that of the output channels.
// CHECK-LABEL: func.func @convolution(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
#image = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d3)>
#kernel = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#made = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @convolution(%a: memref<6x2xf32>, %k: memref<3x2x5xf32>, %r: memref<4x5xf32>) {
  linalg.generic {indexing_maps = [#image, #kernel, #made], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %k : memref<6x2xf32>, memref<3x2x5xf32>) outs(%r : memref<4x5xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %0 = arith.mulf %in, %factor : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Two buffers in two layouts: neither order is better.
// CHECK-LABEL: func.func @both(
// CHECK: iterator_types = ["parallel", "reduction"]}
func.func @both(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %r: memref<4xf32>) {
  linalg.generic {indexing_maps = [#all, #turned, #first], iterator_types = ["parallel", "reduction"]} ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.subf %in, %other : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
