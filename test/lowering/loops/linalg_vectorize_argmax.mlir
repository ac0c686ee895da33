// RUN: fp8-opt %s --linalg-vectorize-argmax | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0) -> ()>
#one = affine_map<(d0) -> (d0)>

// 16 lanes, then a masked tail of 5, then a horizontal reduction to the first of the best lanes.
// CHECK-LABEL: func.func @argmax(
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: %[[FIRST:.*]] = vector.load %arg0[%[[ROW]], %{{.*}}] : memref<3x53xf16>, vector<16xf16>
// CHECK: %[[BEST:.*]] = arith.extf %[[FIRST]] : vector<16xf16> to vector<16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[KEPT:[a-z0-9]+]] = %[[BEST]], {{.*}}) -> (vector<16xf32>, vector<16xi32>)
// CHECK: arith.cmpf ogt, %[[KEPT]], %{{.*}} : vector<16xf32>
// CHECK: vector.constant_mask [5] : vector<16xi1>
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK: %[[INDEX:.*]] = vector.extract {{.*}} : i32 from vector<1xi32>
// CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[INDEX]] : i32
// CHECK: memref.store %[[CHOSEN]], %arg1[%[[ROW]]]
// CHECK: return
func.func @argmax(%a: memref<3x53xf16>, %i: memref<3xi32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %n = memref.alloc() : memref<3xf32>
  linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]} ins(%lowest : f32) outs(%n : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#all, #first, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x53xf16>) outs(%n, %i : memref<3xf32>, memref<3xi32>) {
  ^bb0(%in: f16, %out: f32, %at: i32):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.extf %in : f16 to f32
    %3 = arith.cmpf ogt, %out, %2 : f32
    %4 = arith.cmpf une, %out, %out : f32
    %5 = arith.ori %3, %4 : i1
    %6 = arith.cmpf oeq, %out, %2 : f32
    %7 = arith.cmpi slt, %at, %1 : i32
    %8 = arith.andi %6, %7 : i1
    %9 = arith.ori %5, %8 : i1
    %10 = arith.select %5, %out, %2 : f32
    %11 = arith.select %9, %at, %1 : i32
    linalg.yield %10, %11 : f32, i32
  }
  memref.dealloc %n : memref<3xf32>
  return
}

// Where the number is live-out too, the sign of its zero would be that of the last of equals.
// CHECK-LABEL: func.func @number_is_read(
// CHECK: linalg.generic
// CHECK-NOT: scf.for
// CHECK: return
func.func @number_is_read(%a: memref<3x53xf32>, %i: memref<3xi32>, %n: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #first, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x53xf32>) outs(%n, %i : memref<3xf32>, memref<3xi32>) {
  ^bb0(%in: f32, %out: f32, %at: i32):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i32
    %3 = arith.cmpf ogt, %out, %in : f32
    %4 = arith.cmpf une, %out, %out : f32
    %5 = arith.ori %3, %4 : i1
    %6 = arith.cmpf oeq, %out, %in : f32
    %7 = arith.cmpi slt, %at, %1 : i32
    %8 = arith.andi %6, %7 : i1
    %9 = arith.ori %5, %8 : i1
    %10 = arith.select %5, %out, %in : f32
    %11 = arith.select %9, %at, %1 : i32
    linalg.yield %10, %11 : f32, i32
  }
  return
}

// Another rule for equals: the last one.
// CHECK-LABEL: func.func @last_of_equals(
// CHECK: linalg.generic
// CHECK-NOT: scf.for
// CHECK: return
func.func @last_of_equals(%a: memref<3x53xf32>, %i: memref<3xi32>) {
  %n = memref.alloc() : memref<3xf32>
  linalg.generic {indexing_maps = [#all, #first, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<3x53xf32>) outs(%n, %i : memref<3xf32>, memref<3xi32>) {
  ^bb0(%in: f32, %out: f32, %at: i32):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i32
    %3 = arith.cmpf ogt, %out, %in : f32
    %4 = arith.cmpf une, %out, %out : f32
    %5 = arith.ori %3, %4 : i1
    %10 = arith.select %5, %out, %in : f32
    %11 = arith.select %5, %at, %1 : i32
    linalg.yield %10, %11 : f32, i32
  }
  memref.dealloc %n : memref<3xf32>
  return
}
