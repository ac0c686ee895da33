"""PTX of kernels, by LLVM's NVPTX back end."""
