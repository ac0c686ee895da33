// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx2 min-size=1' | FileCheck %s
// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx512-bf16 min-size=1' \
// RUN:   | FileCheck %s --check-prefix=PAIRS
// RUN: fp8-opt %s --linalg-contract-to-kernels | FileCheck %s --check-prefix=SMALL
// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx2 threads=2' \
// RUN:   | FileCheck %s --check-prefix=SHARED
// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx2 min-size=1 epilogues=false' \
// RUN:   | FileCheck %s --check-prefix=APART
// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx2 min-size=1 apart' \
// RUN:   | FileCheck %s --check-prefix=TEXT
// RUN: not fp8-opt %s --linalg-contract-to-kernels=target=z80 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: there is no target 'z80' (targets: host, amx-bf16, amx-bf16-if-permitted, avx512-bf16, avx512-vbmi, avx512-vnni, avx512, avx2-vnni, avx2, zen, neon-fp8, neon-bf16, neon, baseline)

#all = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>
#one = affine_map<(d0, d1) -> ()>

// The kernels come first.
// CHECK: vector.fma
// CHECK-NOT: mlir_fp8.parallel
// PAIRS: x86.avx512.dot

// TEXT: module attributes {mlir_fp8.kernels = "{{.*}}func.func private @tile_{{.*}}vector.fma
// TEXT-NEXT: func.func private @product_{{[0-9]+}}(memref<1xf32>, memref<1xf32>, memref<1xf32>
// TEXT-NOT: func.func private @tile_

// A contraction with a zero init becomes a call of a function, which allocates the packing buffers;
// the fill is dead.
// CHECK-LABEL: func.func @product(
// CHECK-NOT: linalg.generic
// CHECK: %[[A:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [1], strides: [1] : memref<20x24xf32> to memref<1xf32>
// CHECK-NEXT: %[[B:.*]] = memref.reinterpret_cast %arg1
// CHECK-NEXT: %[[C:.*]] = memref.reinterpret_cast %arg2
// CHECK-NEXT: call @product_{{[0-9]+}}(%[[A]], %[[B]], %[[C]])
// CHECK-NEXT: return
// PAIRS-LABEL: func.func @product(
// A small contraction keeps its loops.
// SMALL-LABEL: func.func @product(
// SMALL: linalg.generic
// SMALL: linalg.generic
// SMALL-NOT: call
func.func @product(%a: memref<20x24xf32>, %b: memref<24x16xf32>, %c: memref<20x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<20x24xf32>, memref<24x16xf32>) outs(%c : memref<20x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// So does one with another init.
// CHECK-LABEL: func.func @accumulated(
// SMALL-LABEL: func.func @accumulated(
// CHECK: linalg.generic
// CHECK-NOT: call
// CHECK: return
func.func @accumulated(%a: memref<20x24xf32>, %b: memref<24x16xf32>, %c: memref<20x16xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<20x24xf32>, memref<24x16xf32>) outs(%c : memref<20x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Packing decodes the f8E5M2 codes, so that the f32 buffers are dead; as f8 is exact in bf16, the
// micro-kernel uses dot products of bf16 pairs.
// CHECK-LABEL: func.func @codes(
// CHECK-NOT: linalg.generic
// CHECK: reinterpret_cast %arg0 to offset: [0], sizes: [1], strides: [1] : memref<20x24xi8>
// CHECK: call @product_
// PAIRS-LABEL: func.func @codes(
// PAIRS-NOT: linalg.generic
// PAIRS: call @product_
func.func @codes(%a: memref<20x24xi8>, %c: memref<20x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %wide = memref.alloc() : memref<20x24xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<20x24xi8>) outs(%wide : memref<20x24xf32>) {
  ^bb0(%in: i8, %out: f32):
    %c127 = arith.constant 127 : i32
    %c21 = arith.constant 21 : i32
    %c24 = arith.constant 24 : i32
    %c128 = arith.constant 128 : i32
    %c4 = arith.constant 4 : i32
    %c123 = arith.constant 123 : i32
    %rebias = arith.constant 939524096 : i32
    %inf = arith.constant 2139095040 : i32
    %quantum = arith.constant 1.52587890625e-05 : f32
    %0 = arith.extui %in : i8 to i32
    %1 = arith.andi %0, %c127 : i32
    %2 = arith.shli %1, %c21 : i32
    %3 = arith.addi %2, %rebias : i32
    %4 = arith.cmpi ult, %1, %c4 : i32
    %5 = arith.uitofp %1 : i32 to f32
    %6 = arith.mulf %5, %quantum : f32
    %7 = arith.bitcast %6 : f32 to i32
    %8 = arith.select %4, %7, %3 : i32
    %9 = arith.ori %8, %inf : i32
    %10 = arith.cmpi ugt, %1, %c123 : i32
    %11 = arith.select %10, %9, %8 : i32
    %12 = arith.andi %0, %c128 : i32
    %13 = arith.shli %12, %c24 : i32
    %14 = arith.ori %11, %13 : i32
    %15 = arith.bitcast %14 : i32 to f32
    linalg.yield %15 : f32
  }
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, affine_map<(d0, d1, d2) -> (d2, d1)>, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%wide, %wide : memref<20x24xf32>, memref<20x24xf32>) outs(%c : memref<20x20xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Dequantizing fuses with packing, unless its source is overwritten before the product; a fill with
// other readers stays.
// CHECK-LABEL: func.func @dequantized(
// CHECK: %[[KEPT:.*]] = memref.alloc() : memref<20x24xf32>
// CHECK-NOT: memref.alloc() : memref<20x24xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg2
// CHECK-SAME: outs(%[[KEPT]]
// CHECK: linalg.generic {{.*}} outs(%arg1
// CHECK: linalg.generic {{.*}} outs(%arg3
// CHECK: memref.copy %arg3, %arg4
// CHECK-NOT: linalg.generic
// CHECK: call @product_
func.func @dequantized(%a: memref<20x24xf32>, %b: memref<20x24xf32>, %scale: memref<f32>,
                       %c: memref<20x20xf32>, %zeros: memref<20x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %left = memref.alloc() : memref<20x24xf32>
  %right = memref.alloc() : memref<20x24xf32>
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %scale : memref<20x24xf32>, memref<f32>) outs(%left : memref<20x24xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.mulf %in, %s : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b, %scale : memref<20x24xf32>, memref<f32>) outs(%right : memref<20x24xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.mulf %in, %s : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%b : memref<20x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  memref.copy %c, %zeros : memref<20x20xf32> to memref<20x20xf32>
  linalg.generic {indexing_maps = [#left, affine_map<(d0, d1, d2) -> (d2, d1)>, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%left, %right : memref<20x24xf32>, memref<20x24xf32>) outs(%c : memref<20x20xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A producer fuses where its buffer is written again for others, unless it reads that buffer: it
// stays, as others need it, and would apply twice.
// CHECK-LABEL: func.func @written_again(
// CHECK: %[[LEFT:.*]] = memref.alloc() : memref<20x24xf32>
// CHECK: %[[A:.*]] = memref.reinterpret_cast %arg0
// CHECK: call @product_{{[0-9]+}}(%[[A]]
// CHECK: linalg.generic {{.*}} ins(%[[LEFT]] : {{.*}} outs(%[[LEFT]] :
// CHECK: %[[SAME:.*]] = memref.reinterpret_cast %[[LEFT]]
// CHECK: call @product_{{[0-9]+}}(%[[SAME]]
func.func @written_again(%a: memref<20x24xf32>, %b: memref<24x16xf32>, %c: memref<20x16xf32>,
                         %d: memref<20x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %left = memref.alloc() : memref<20x24xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<20x24xf32>) outs(%left : memref<20x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%left, %b : memref<20x24xf32>, memref<24x16xf32>) outs(%c : memref<20x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%left : memref<20x24xf32>) outs(%left : memref<20x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%d : memref<20x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%left, %b : memref<20x24xf32>, memref<24x16xf32>) outs(%d : memref<20x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The left operand is packed first, here by the caller; results are shared, and the columns of the
// right operand for each.
// SHARED: func.func private @blocks_{{.*}}mlir_fp8.parallel = {{[0-9]+}} : i64
// SHARED: %[[BUFFER:.*]] = memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}xi8>
// SHARED: scf.for {{.*}} = %arg{{[0-9]+}} to %arg{{[0-9]+}}
// SHARED: scf.for {{.*}} step %c128
// SHARED: call @pack_
// SHARED: func.func private @left_
// SHARED-NOT: mlir_fp8.parallel
// SHARED-LABEL: func.func @big(
// SHARED-NOT: linalg.generic
// SHARED: call @product_
func.func @big(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<256x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<256x256xf32>, memref<256x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The fused epilogue runs on each block of results, so the f32 result buffer is gone. The maximum
// has a partial result per row, and allocations in between are hoisted.
// CHECK-LABEL: func.func @followed(
// CHECK-NOT: linalg.generic
// CHECK-NOT: memref<20x16xf32>
// CHECK: %[[CODES:.*]] = memref.alloc() : memref<20x16xi8>
// CHECK-NOT: memref<20x16xf32>
// CHECK: %[[LARGEST:.*]] = memref.alloc() {alignment = 64 : i64} : memref<20xf32>
// CHECK: call @product_
// CHECK: linalg.generic {{.*}} outs(%arg4 : memref<f32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[LARGEST]] : memref<20xf32>) outs(%arg4 : memref<f32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: arith.maximumf %[[OUT]], %[[IN]] : f32
// CHECK-NOT: linalg.generic
// CHECK: memref.copy %[[CODES]], %arg5
// APART-LABEL: func.func @followed(
// APART: memref.alloc() : memref<20x16xf32>
// APART: call @product_
// APART: linalg.generic {{.*}} outs(%{{.*}} : memref<20x16xi8>)
func.func @followed(%a: memref<20x24xf32>, %b: memref<24x16xf32>, %scale: memref<f32>,
                    %bias: memref<16xf32>, %amax: memref<f32>, %d: memref<20x16xi8>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<20x16xf32>
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<20x24xf32>, memref<24x16xf32>) outs(%c : memref<20x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #one, affine_map<(d0, d1) -> (d1)>, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%c, %scale, %bias : memref<20x16xf32>, memref<f32>, memref<16xf32>)
      outs(%c : memref<20x16xf32>) {
  ^bb0(%in: f32, %s: f32, %t: f32, %out: f32):
    %0 = arith.mulf %in, %s : f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
                  iterator_types = []} ins(%zero : f32) outs(%amax : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]}
      ins(%c : memref<20x16xf32>) outs(%amax : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.absf %in : f32
    %1 = arith.maximumf %out, %0 : f32
    linalg.yield %1 : f32
  }
  %codes = memref.alloc() : memref<20x16xi8>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<20x16xf32>) outs(%codes : memref<20x16xi8>) {
  ^bb0(%in: f32, %out: i8):
    %0 = arith.fptosi %in : f32 to i8
    linalg.yield %0 : i8
  }
  memref.copy %codes, %d : memref<20x16xi8> to memref<20x16xi8>
  return
}

// Stores that alias an operand, or a buffer that is read in between, are not fused.
// CHECK-LABEL: func.func @in_place(
// CHECK: call @product_
// CHECK: linalg.generic {{.*}} outs(%arg0 : memref<20x20xf32>)
// CHECK: memref.copy %arg2, %arg3
// CHECK: linalg.generic {{.*}} outs(%arg2 : memref<20x20xf32>)
func.func @in_place(%a: memref<20x20xf32>, %b: memref<20x20xf32>, %d: memref<20x20xf32>,
                    %e: memref<20x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<20x20xf32>
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<20x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<20x20xf32>, memref<20x20xf32>) outs(%c : memref<20x20xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<20x20xf32>) outs(%a : memref<20x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %d, %e : memref<20x20xf32> to memref<20x20xf32>
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<20x20xf32>) outs(%d : memref<20x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}
