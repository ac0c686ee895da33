// RUN: fp8-opt %s --linalg-convolution-to-kernels='target=avx2 min-size=1' | FileCheck %s
// RUN: fp8-opt %s --linalg-convolution-to-kernels='target=avx2 min-size=1 parallel' \
// RUN:   | FileCheck %s --check-prefix=PARALLEL
// RUN: fp8-opt %s --linalg-convolution-to-kernels | FileCheck %s --check-prefix=SMALL
// RUN: not fp8-opt %s --linalg-convolution-to-kernels=target=z80 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: there is no target 'z80' (targets: host, amx-bf16, amx-bf16-if-permitted, avx512-bf16, avx512-vbmi, avx512-vnni, avx512, avx2-vnni, avx2, zen, neon-fp8, neon-bf16, neon, baseline)

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#one = affine_map<(d0, d1, d2) -> ()>
#image = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d4)>
#filter = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#depthwise_filter = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#depthwise_image = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>
#depthwise_out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// The kernels come first; the loop over tiles is parallel where the convolution is big enough.
// CHECK: func.func private @convolution_rows_{{[0-9]+}}
// CHECK: vector.fma
// CHECK-NOT: mlir_fp8.parallel
// PARALLEL: mlir_fp8.parallel

// A function packs the filter and calls the micro-kernel; the zero fill is dead.
// CHECK-LABEL: func.func @convolution(
// CHECK-NOT: linalg.generic
// CHECK: %[[IMAGE:.*]] = memref.reinterpret_cast %arg0
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}xi8>
// CHECK: call @convolution_{{[0-9]+}}(%[[IMAGE]],
// CHECK-NEXT: return
// A small one keeps its loops.
// SMALL-LABEL: func.func @convolution(
// SMALL: linalg.generic
// SMALL: linalg.generic
// SMALL-NOT: call
// SMALL: return
func.func @convolution(%a: memref<2x9x5xf32>, %b: memref<3x5x8xf32>, %c: memref<2x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<2x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x9x5xf32>, memref<3x5x8xf32>) outs(%c : memref<2x4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A reduction of several blocks: the first block stores instead of accumulating. The producer of the
// image is computed once.
// CHECK-LABEL: func.func @of_bf16(
// CHECK-NOT: linalg.yield
// CHECK: %[[F32:.*]] = memref.alloc() : memref<2x9x500xf32>
// CHECK: linalg.generic
// CHECK: arith.extf
// CHECK: call @convolution_
// CHECK-NEXT: return
func.func @of_bf16(%a: memref<2x9x500xbf16>, %b: memref<3x500x8xf32>, %c: memref<2x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<2x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x9x500xbf16>, memref<3x500x8xf32>) outs(%c : memref<2x4x8xf32>) {
  ^bb0(%x: bf16, %y: f32, %sum: f32):
    %wide = arith.extf %x : bf16 to f32
    %0 = arith.mulf %wide, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A depthwise convolution has no columns to tile.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: call
// CHECK: return
func.func @depthwise(%a: memref<2x9x5xf32>, %b: memref<3x5xf32>, %c: memref<2x7x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<2x7x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#depthwise_image, #depthwise_filter, #depthwise_out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x9x5xf32>, memref<3x5xf32>) outs(%c : memref<2x7x5xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Big enough for a parallel loop.
// CHECK-LABEL: func.func @big(
// CHECK: call @convolution_
func.func @big(%a: memref<2x1403x32xf32>, %b: memref<3x32x32xf32>, %c: memref<2x701x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#one, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%zero : f32) outs(%c : memref<2x701x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x1403x32xf32>, memref<3x32x32xf32>) outs(%c : memref<2x701x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
