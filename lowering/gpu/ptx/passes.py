"""The upstream passes from kernels to the NVVM dialect; imports no MLIR."""

TO_NVVM = (
    "gpu.module("
    "convert-scf-to-cf,"
    "expand-strided-metadata,"
    "lower-affine,"
    "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true index-bitwidth=64},"
    "convert-vector-to-llvm,"  # behind it, which knows the memory spaces of memrefs
    "reconcile-unrealized-casts,"
    "canonicalize,"
    "cse)"
)
"""One pointer for each argument of a kernel, whose sizes are static."""
