// RUN: fp8-translate --emit=ptx %s | filecheck %s
// RUN: fp8-translate --emit=ptx --chip=sm_89 --saturate %s | filecheck %s --check-prefix=SM89
// RUN: fp8-opt %s --lower-to-nvvm-pipeline | fp8-translate --emit=ptx --chip=sm_100 | filecheck %s --check-prefix=SM100
// RUN: not fp8-translate --emit=ptx --mcpu=znver4 %s 2>&1 | filecheck %s --check-prefix=MCPU
// RUN: not fp8-translate --emit=asm --chip=sm_90a %s 2>&1 | filecheck %s --check-prefix=CHIP
// RUN: not fp8-translate --emit=ptx --chip=sm_75 %s 2>&1 | filecheck %s --check-prefix=OLD
// RUN: not fp8-translate --emit=ptx %S/../../examples/dot.mlir 2>&1 | filecheck %s --check-prefix=NOTHING

// f16 has an instruction of its own: nothing goes by way of f32.
// CHECK: .target sm_90a
// CHECK: .visible .entry narrow(
// CHECK: ld.global.v4.b32
// CHECK: cvt.rn.satfinite.e5m2x2.f16x2
// CHECK-NOT: .f32
// CHECK: st.global.v2.b32
// SM89: .target sm_89
// SM89: cvt.rn.satfinite.e5m2x2.f16x2
// SM100: .target sm_100
// SM100: cvt.rn.satfinite.e5m2x2.f16x2
// MCPU: error: --mcpu does not go with --emit=ptx
// CHIP: error: --chip goes with --emit=ptx
// OLD: invalid choice: 'sm_75'
// NOTHING: is not lowered to the LLVM dialect: run fp8-opt --lower-to-nvvm-pipeline first
gpu.module @kernels {
  gpu.func @narrow(%x: memref<4096xf16>, %q: memref<4096xf8E5M2>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %eight = arith.constant 8 : index
    %at = arith.muli %thread, %eight : index
    %v = vector.load %x[%at] {alignment = 16 : i64} : memref<4096xf16>, vector<8xf16>
    %c = arith.truncf %v : vector<8xf16> to vector<8xf8E5M2>
    vector.store %c, %q[%at] {alignment = 8 : i64} : memref<4096xf8E5M2>, vector<8xf8E5M2>
    gpu.return
  }
}
