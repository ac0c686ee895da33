"""The targets of `fp8-explain`, a line for users each; imports no MLIR, as `--help` needs them."""

SUMMARIES = {
    "fp8": "the ops of the fp8 dialect, which compute exactly what the program does (default)",
    "xla-gpu": "__cublas$lt$matmul$f8 and cuDNN's convolutions, as XLA:GPU makes them",
    "cublaslt": "one cublasLtMatmul call",
    "torch-scaled-mm": "one torch._scaled_mm call",
    "cublaslt-blackwell": "one cublasLtMatmul call on compute capability 10.0: MXFP8 and NVFP4 too",
}
"""By the name that users type; targets.py has the rules of each."""
