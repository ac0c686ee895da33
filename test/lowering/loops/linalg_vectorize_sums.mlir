// RUN: fp8-opt %s --linalg-vectorize-sums | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>

// Chunks of 64 lanes, then of 16, then a masked tail of 5; the init is added last.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: %[[WIDE:[0-9]+]] = scf.for {{.*}} iter_args(%[[SUMS:[a-z0-9]+]] = {{.*}}
// CHECK: %[[LOADED:.*]] = vector.load %arg0[%[[ROW]], %{{.*}}] : memref<3x149xf32>, vector<64xf32>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[LOADED]], %[[LOADED]] : vector<64xf32>
// CHECK: arith.addf %[[SUMS]], %[[SQUARE]] : vector<64xf32>
// CHECK: %[[HALF:.*]] = vector.extract_strided_slice %[[WIDE]] {offsets = [0], sizes = [32], strides = [1]}
// CHECK: %[[OTHER:.*]] = vector.extract_strided_slice %[[WIDE]] {offsets = [32], sizes = [32], strides = [1]}
// CHECK: arith.addf %[[HALF]], %[[OTHER]] : vector<32xf32>
// CHECK: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<16xi1>
// CHECK: vector.maskedload %arg0[%[[ROW]], %{{.*}}], %[[MASK]]
// CHECK: arith.select %[[MASK]], {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: %[[TOTAL:.*]] = vector.extract {{.*}} : f32 from vector<1xf32>
// CHECK: %[[OLD:.*]] = memref.load %arg1[%[[ROW]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[TOTAL]] : f32
// CHECK: memref.store %[[NEW]], %arg1[%[[ROW]]]
func.func @rows(%a: memref<3x149xf32>, %r: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x149xf32>) outs(%r : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Transcendental functions need registers: one vector accumulator.
// CHECK-LABEL: func.func @functions(
// CHECK-NOT: vector<64xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
func.func @functions(%a: memref<3x256xf32>, %r: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x256xf32>) outs(%r : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// LLVM vectorizes reductions that it may reassociate; short ones do not fill a vector.
// CHECK-LABEL: func.func @kept(
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @kept(%a: memref<3x256xi32>, %r: memref<3xi32>, %b: memref<3x15xf32>, %s: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x256xi32>) outs(%r : memref<3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.addi %out, %in : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#all, #first], iterator_types = ["parallel", "reduction"]} ins(%b : memref<3x15xf32>) outs(%s : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A block is 256 vector additions; 300 rows are two blocks.
#cube = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#each = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @long(
// CHECK: scf.for %{{.*}} to %c2{{(_.*)?}} step
// CHECK: %[[START:.*]] = memref.load %arg1
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} to %c300{{.*}} step %c256{{.*}} iter_args(%{{.*}} = %[[START]]) -> (f32)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK: scf.for {{.*}} to %c312{{.*}} step %c256{{.*}} -> (vector<64xf32>)
// CHECK: scf.for {{.*}} -> (vector<64xf32>)
// CHECK: vector.load
// CHECK: memref.store %[[TOTAL]], %arg1
func.func @long(%a: memref<300x2x20000xf32>, %r: memref<2xf32>) {
  linalg.generic {indexing_maps = [#cube, #each], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a : memref<300x2x20000xf32>) outs(%r : memref<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
