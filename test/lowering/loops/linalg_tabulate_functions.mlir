// RUN: fp8-opt %s --linalg-tabulate-functions | FileCheck %s

#row = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>

// A table of 256 codes, with the scale loop-invariant; ops on other values stay in the loop.
// CHECK-LABEL: func.func @scaled(
// CHECK-NEXT: %[[TABLE:.*]] = memref.alloca() : memref<256xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1 : memref<f32>) outs(%[[TABLE]] : memref<256xf32>)
// CHECK-NEXT: ^bb0(%[[SCALE:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[INDEX:.*]] = linalg.index 0
// CHECK-NEXT: %[[CODE:.*]] = arith.index_cast %[[INDEX]] : index to i8
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[SCALE]], %[[SCALE]]
// CHECK-NEXT: %[[NUMBER:.*]] = arith.sitofp %[[CODE]] : i8 to f32
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[NUMBER]], %[[TWICE]]
// CHECK-NEXT: %[[POWER:.*]] = math.exp %[[SCALED]]
// CHECK-NEXT: linalg.yield %[[POWER]]
// CHECK: ^bb0(%[[IN:.*]]: i8, %{{.*}}: f32, %[[OTHER:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[IN]] : i8 to i32
// CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[WIDE]] : i32 to index
// CHECK-NEXT: %[[LOADED:.*]] = memref.load %[[TABLE]][%[[AT]]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[LOADED]], %[[OTHER]]
// CHECK-NEXT: linalg.yield %[[PRODUCT]]
func.func @scaled(%x: memref<8192xi8>, %s: memref<f32>, %y: memref<8192xf32>, %r: memref<8192xf32>) {
  linalg.generic {indexing_maps = [#row, #one, #row, #row], iterator_types = ["parallel"]} ins(%x, %s, %y : memref<8192xi8>, memref<f32>, memref<8192xf32>) outs(%r : memref<8192xf32>) {
  ^bb0(%in: i8, %scale: f32, %other: f32, %out: f32):
    %0 = arith.addf %scale, %scale : f32
    %1 = arith.sitofp %in : i8 to f32
    %2 = arith.mulf %1, %0 : f32
    %3 = math.exp %2 : f32
    %4 = arith.mulf %3, %other : f32
    linalg.yield %4 : f32
  }
  return
}

// Left alone: a small trip count, no function, a function of other values, an op that may trap on
// some code, a reduction.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: memref.alloca
// CHECK-NOT: memref.load
// CHECK: return
func.func @others(%few: memref<8191xi8>, %x: memref<8192xi8>, %y: memref<8192xf32>, %a: memref<8191xf32>, %b: memref<8192xf32>, %sum: memref<f32>) {
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%few : memref<8191xi8>) outs(%a : memref<8191xf32>) {
  ^bb0(%in: i8, %out: f32):
    %0 = arith.sitofp %in : i8 to f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : memref<8192xi8>) outs(%b : memref<8192xf32>) {
  ^bb0(%in: i8, %out: f32):
    %0 = arith.sitofp %in : i8 to f32
    %1 = math.absf %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%x, %y : memref<8192xi8>, memref<8192xf32>) outs(%b : memref<8192xf32>) {
  ^bb0(%in: i8, %other: f32, %out: f32):
    %0 = arith.sitofp %in : i8 to f32
    %1 = arith.mulf %0, %other : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : memref<8192xi8>) outs(%b : memref<8192xf32>) {
  ^bb0(%in: i8, %out: f32):
    %c = arith.constant 100 : i8
    %0 = arith.divsi %c, %in : i8
    %1 = arith.sitofp %0 : i8 to f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#row, #one], iterator_types = ["reduction"]} ins(%x : memref<8192xi8>) outs(%sum : memref<f32>) {
  ^bb0(%in: i8, %out: f32):
    %0 = arith.sitofp %in : i8 to f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  }
  return
}
