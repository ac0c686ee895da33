// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx2 min-size=1' | FileCheck %s
// RUN: fp8-opt %s --linalg-contract-to-kernels='target=avx512 min-size=1' \
// RUN:   | FileCheck %s --check-prefix=OTHER

// A weight in panels of 16 columns, the tile of AVX2: packing is left for the left operand alone.
// That packs to a block of a row stride that is an odd number of cache lines.

#panels = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#all3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>
#one = affine_map<(d0, d1) -> ()>

// CHECK:       func.func private @blocks_
// CHECK-NOT:   call @pack_
// CHECK:       builtin.unrealized_conversion_cast %{{.*}} : memref<1xf32> to memref<1xi8>
// CHECK-NOT:   call @pack_
// CHECK:       call @tile_
// CHECK-NOT:   call @pack_
// CHECK:       func.func private @left_
// CHECK:       call @pack_
// CHECK-LABEL: func.func @main(
// CHECK-NOT:   memref.alloc
// CHECK:       call @product_
// CHECK-NOT:   linalg.generic
// CHECK:       return

// The tile of AVX-512 has 64 columns: the matrix is made first, as the module says.

// OTHER-LABEL: func.func @main(
// OTHER:       %[[MATRIX:.*]] = memref.alloc() {{.*}}: memref<64x4x16xf32>
// OTHER:       linalg.generic
// OTHER:       memref.collapse_shape %[[MATRIX]]
// OTHER:       call @product_
func.func @main(%x: memref<24x64xf32>, %p: memref<4x64x16xf32>, %y: memref<24x60xf32>) {
  %zero = arith.constant 0.0 : f32
  %made = memref.alloc() {alignment = 64 : i64} : memref<64x4x16xf32>
  linalg.generic {indexing_maps = [#panels, #all3],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : memref<4x64x16xf32>) outs(%made : memref<64x4x16xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  %matrix = memref.collapse_shape %made [[0], [1, 2]] : memref<64x4x16xf32> into memref<64x64xf32>
  %w = memref.subview %matrix[0, 0] [64, 60] [1, 1]
    : memref<64x64xf32> to memref<64x60xf32, strided<[64, 1]>>
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel"]}
      ins(%zero : f32) outs(%y : memref<24x60xf32>) {
  ^bb0(%in: f32, %old: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #out],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<24x64xf32>, memref<64x60xf32, strided<[64, 1]>>)
      outs(%y : memref<24x60xf32>) {
  ^bb0(%a: f32, %b: f32, %total: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %total, %product : f32
    linalg.yield %sum : f32
  }
  return
}
