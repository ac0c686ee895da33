// RUN: fp8-opt %s --split-input-file --convert-f8-casts-to-nvvm | filecheck %s
// RUN: fp8-opt %s --split-input-file --pass-pipeline='builtin.module(convert-f8-casts-to-nvvm{saturate=true})' | filecheck %s --check-prefix=SATURATE

// Two numbers at a time, the first in the low byte; NaN above 464, with its sign.
// CHECK-LABEL: gpu.func @narrow(
// CHECK: %[[LOW:.*]] = vector.extract %{{.*}}[0] : f32 from vector<2xf32>
// CHECK: nvvm.convert.f32x2.to.f8x2 %{{.*}}, %[[LOW]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
// CHECK: nvvm.convert.f32x2.to.f8x2
// CHECK: vector.bitcast %{{.*}} : vector<2xi16> to vector<4xi8>
// CHECK: arith.constant dense<1139277824> : vector<4xi32>
// CHECK: arith.cmpi ugt
// CHECK: arith.constant dense<127> : vector<4xi8>
// CHECK: arith.select
// CHECK: arith.ori
// CHECK: arith.bitcast %{{.*}} : vector<4xi8> to vector<4xf8E4M3FN>
// SATURATE-LABEL: gpu.func @narrow(
// SATURATE: nvvm.convert.f32x2.to.f8x2
// SATURATE-NOT: arith.select
// SATURATE: arith.ori
gpu.module @kernels {
  gpu.func @narrow(%x: vector<4xf32>, %q: memref<4xf8E4M3FN>) kernel {
    %zero = arith.constant 0 : index
    %c = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
    vector.store %c, %q[%zero] : memref<4xf8E4M3FN>, vector<4xf8E4M3FN>
    gpu.return
  }
}

// -----

// f16 has an instruction of its own. A NaN is no infinity, saturated or not.
// CHECK-LABEL: gpu.func @of_f16(
// CHECK: nvvm.convert.f16x2.to.f8x2 %{{.*}} : vector<2xf16> -> i16(f8E5M2)
// CHECK: arith.constant 31615 : i16
// CHECK: arith.constant 124 : i8
// CHECK: arith.constant 31744 : i16
// CHECK: arith.constant 126 : i8
// SATURATE-LABEL: gpu.func @of_f16(
// SATURATE-NOT: 31615
// SATURATE: arith.constant 126 : i8
gpu.module @kernels {
  gpu.func @of_f16(%x: f16, %q: memref<1xf8E5M2>) kernel {
    %zero = arith.constant 0 : index
    %c = arith.truncf %x : f16 to f8E5M2
    memref.store %c, %q[%zero] : memref<1xf8E5M2>
    gpu.return
  }
}

// -----

// By f16, which f8E5M2 is the upper half of.
// CHECK-LABEL: gpu.func @widen(
// CHECK: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// CHECK: arith.shli
// CHECK-NOT: nvvm.convert
gpu.module @kernels {
  gpu.func @widen(%x: memref<2xf8E4M3FN>, %y: memref<2xf8E5M2>, %a: memref<2xf16>, %b: memref<2xf32>) kernel {
    %zero = arith.constant 0 : index
    %v = vector.load %x[%zero] : memref<2xf8E4M3FN>, vector<2xf8E4M3FN>
    %c = arith.extf %v : vector<2xf8E4M3FN> to vector<2xf16>
    vector.store %c, %a[%zero] : memref<2xf16>, vector<2xf16>
    %w = vector.load %y[%zero] : memref<2xf8E5M2>, vector<2xf8E5M2>
    %d = arith.extf %w : vector<2xf8E5M2> to vector<2xf32>
    vector.store %d, %b[%zero] : memref<2xf32>, vector<2xf32>
    gpu.return
  }
}

// -----

// Other formats, and functions of CPUs, are left to convert-small-floats-to-int.
// CHECK-LABEL: gpu.func @others(
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FNUZ
// CHECK-LABEL: func.func @cpu(
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
gpu.module @kernels {
  gpu.func @others(%x: f32, %q: memref<1xf8E4M3FNUZ>) kernel {
    %zero = arith.constant 0 : index
    %c = arith.truncf %x : f32 to f8E4M3FNUZ
    memref.store %c, %q[%zero] : memref<1xf8E4M3FNUZ>
    gpu.return
  }
}
func.func @cpu(%x: f32) -> f8E4M3FN {
  %c = arith.truncf %x : f32 to f8E4M3FN
  return %c : f8E4M3FN
}
