// RUN: fp8-opt %s --linalg-transpose-to-vector | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// In-register transposes of eight vectors: load, interleave, store. Two tiles are cache lines.
// CHECK-LABEL: func.func @transpose(
// CHECK: memref.expand_shape %arg1 {{\[\[}}0, 1], [2, 3, 4]] output_shape [3, 16, 1, 2, 16] : memref<48x32xf32> into memref<3x16x1x2x16xf32>
// CHECK: memref.expand_shape %arg0 {{\[\[}}0, 1, 2], [3, 4]] output_shape [1, 2, 16, 3, 16] : memref<32x48xf32> into memref<1x2x16x3x16xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @transpose(%a: memref<32x48xf32>, %r: memref<48x32xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<32x48xf32>) outs(%r : memref<48x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// The tail loops of both sizes: columns, then rows.
// CHECK-LABEL: func.func @odd(
// CHECK: memref.subview %arg0[32, 0] [3, 50] [1, 1]
// CHECK: memref.subview %arg1[0, 32] [50, 3] [1, 1]
// CHECK: linalg.generic
// CHECK: memref.subview %arg0[0, 48] [32, 2] [1, 1]
// CHECK: memref.subview %arg1[48, 0] [2, 32] [1, 1]
// CHECK: linalg.generic
// CHECK: memref.subview %arg1[0, 0] [48, 32] [1, 1]
// CHECK: vector.shuffle {{.*}} : vector<16xi8>, vector<16xi8>
// CHECK: return
func.func @odd(%a: memref<35x50xi8>, %r: memref<50x35xi8>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<35x50xi8>) outs(%r : memref<50x35xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  }
  return
}

// Copies, reductions, narrow shapes and sub-byte elements are left alone.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: vector
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: vector
// CHECK: return
func.func @others(%a: memref<32x32xf32>, %r: memref<32x32xf32>, %n: memref<32x5xf32>, %m: memref<5x32xf32>, %b: memref<32x32xi1>, %c: memref<32x32xi1>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<32x32xf32>) outs(%r : memref<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%a : memref<32x32xf32>) outs(%r : memref<32x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%n : memref<32x5xf32>) outs(%m : memref<5x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%b : memref<32x32xi1>) outs(%c : memref<32x32xi1>) {
  ^bb0(%in: i1, %out: i1):
    linalg.yield %in : i1
  }
  return
}
