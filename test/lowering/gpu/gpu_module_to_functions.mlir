// RUN: fp8-opt %s --split-input-file --gpu-module-to-functions --verify-diagnostics | filecheck %s

// CHECK: module {
// CHECK-NEXT: llvm.func @first(
// CHECK: llvm.func @second(
// CHECK-NOT: gpu.module
gpu.module @a {
  llvm.func @first(%x: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.return
  }
}
gpu.module @b {
  llvm.func @second(%x: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

llvm.func @same() {
  llvm.return
}
gpu.module @a {
  // expected-error @below {{'llvm.func' defines @same, which another module of kernels does too: rename one}}
  llvm.func @same() {
    llvm.return
  }
}
