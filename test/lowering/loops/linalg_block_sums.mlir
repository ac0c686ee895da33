// RUN: fp8-opt %s --linalg-block-sums | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#first = affine_map<(d0, d1) -> (d0)>

// 300 rows: blocks of 256, with a neutral init of -0.0, which are added to the result.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<5xf32>
// CHECK: scf.for %[[COLUMN:[a-z0-9]+]] =
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: memref.store %[[ZERO]], %[[SUMS]][%[[COLUMN]]]
// CHECK: scf.for %[[BLOCK:[a-z0-9]+]] = %{{.*}} to %c300{{.*}} step %c256
// CHECK: %[[END:.*]] = arith.addi %[[BLOCK]], %c256
// CHECK: %[[LAST:.*]] = arith.minui %[[END]], %c300
// CHECK: scf.for %[[ROW:[a-z0-9]+]] = %[[BLOCK]] to %[[LAST]] step %c1
// CHECK: scf.for %[[COLUMN:[a-z0-9]+]] =
// CHECK: %[[OLD:.*]] = memref.load %[[SUMS]][%[[COLUMN]]]
// CHECK: %[[X:.*]] = memref.load %arg0[%[[ROW]], %[[COLUMN]]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[SQUARE]] : f32
// CHECK: memref.store %[[NEW]], %[[SUMS]][%[[COLUMN]]]
// CHECK: scf.for %[[COLUMN:[a-z0-9]+]] =
// CHECK: %[[OLD:.*]] = memref.load %arg1[%[[COLUMN]]]
// CHECK: %[[PART:.*]] = memref.load %[[SUMS]][%[[COLUMN]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[PART]] : f32
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: memref.store %[[ZERO]], %[[SUMS]][%[[COLUMN]]]
// CHECK: memref.store %[[NEW]], %arg1[%[[COLUMN]]]
// CHECK: memref.dealloc %[[SUMS]]
func.func @rows(%a: memref<300x5xf32>, %r: memref<5xf32>) {
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%a : memref<300x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// 200,000 numbers: three levels, 200,000 = 3 * 256 * 256 + ..., as loop-carried scalars.
// CHECK-LABEL: func.func @numbers(
// CHECK: scf.for %{{.*}} to %c3{{(_.*)?}} step %c1
// CHECK: %[[START:.*]] = memref.load %arg1
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} step %c65536{{.*}} iter_args(%{{.*}} = %[[START]]) -> (f32)
// CHECK: scf.for {{.*}} step %c256{{.*}} iter_args(
// CHECK: %[[BLOCK:.*]] = scf.for {{.*}} iter_args(
// CHECK: memref.load %arg0
// CHECK: arith.addf
// CHECK: scf.yield
// CHECK: arith.addf %{{.*}}, %[[BLOCK]] : f32
// CHECK: memref.store %[[TOTAL]], %arg1
func.func @numbers(%a: memref<200000x3xf32>, %r: memref<3xf32>) {
  linalg.generic {indexing_maps = [#turned, #first], iterator_types = ["parallel", "reduction"]} ins(%a : memref<200000x3xf32>) outs(%r : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1 : f32
  }
  return
}

// With few results per row, all share one accumulator buffer; with more, each row has its own.
// CHECK-LABEL: func.func @few(
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<2x5xf32>
// CHECK: scf.for %[[OUTER:[a-z0-9]+]] =
// CHECK: scf.for %[[INNER:[a-z0-9]+]] =
// CHECK: memref.store %{{.*}}, %[[SUMS]][%[[OUTER]], %[[INNER]]]
// CHECK-LABEL: func.func @many(
// CHECK-NEXT: constant
// CHECK: scf.for
// CHECK-NEXT: %[[SUMS:.*]] = memref.alloc() : memref<1025xf32>
// CHECK: memref.dealloc %[[SUMS]]
#cube = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#outside = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @few(%a: memref<2x300x5xf32>, %r: memref<2x5xf32>) {
  linalg.generic {indexing_maps = [#cube, #outside], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a : memref<2x300x5xf32>) outs(%r : memref<2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  }
  return
}

func.func @many(%a: memref<2x300x1025xf32>, %r: memref<2x1025xf32>) {
  linalg.generic {indexing_maps = [#cube, #outside], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a : memref<2x300x1025xf32>) outs(%r : memref<2x1025xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  }
  return
}

// Real and imaginary parts, and a maximum beside a sum.
// CHECK-LABEL: func.func @complex(
// CHECK: complex.constant [-0.000000e+00 : f32, -0.000000e+00 : f32]
// CHECK: complex.create
// CHECK: complex.create
// CHECK-LABEL: func.func @two(
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.maximumf
// CHECK: arith.maximumf
func.func @complex(%a: memref<300x5xcomplex<f32>>, %r: memref<5xcomplex<f32>>) {
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%a : memref<300x5xcomplex<f32>>) outs(%r : memref<5xcomplex<f32>>) {
  ^bb0(%in: complex<f32>, %out: complex<f32>):
    %0 = complex.re %out : complex<f32>
    %1 = complex.re %in : complex<f32>
    %2 = arith.addf %0, %1 : f32
    %3 = complex.im %out : complex<f32>
    %4 = complex.im %in : complex<f32>
    %5 = arith.addf %3, %4 : f32
    %6 = complex.create %2, %5 : complex<f32>
    linalg.yield %6 : complex<f32>
  }
  return
}

func.func @two(%a: memref<300x5xf32>, %r: memref<5xf32>, %s: memref<5xf32>) {
  linalg.generic {indexing_maps = [#all, #last, #last], iterator_types = ["reduction", "parallel"]} ins(%a : memref<300x5xf32>) outs(%r, %s : memref<5xf32>, memref<5xf32>) {
  ^bb0(%in: f32, %sum: f32, %most: f32):
    %0 = arith.addf %sum, %in : f32
    %1 = arith.maximumf %most, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// A sum of 256; integers, which are exact; maxima and products alone; a body that is no sum.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-5: linalg.generic
func.func @kept(%a: memref<256x5xf32>, %b: memref<300x5xi32>, %c: memref<300x5xf32>, %r: memref<5xf32>, %s: memref<5xi32>) {
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%a : memref<256x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%b : memref<300x5xi32>) outs(%s : memref<5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.addi %out, %in : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%c : memref<300x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%c : memref<300x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #last], iterator_types = ["reduction", "parallel"]} ins(%c : memref<300x5xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    %1 = arith.mulf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
