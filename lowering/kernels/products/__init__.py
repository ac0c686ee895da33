"""The functions of a product or convolution: algorithms, packing, and micro-kernels."""
