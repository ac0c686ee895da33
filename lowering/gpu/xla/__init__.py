"""Kernels in modules that XLA:GPU compiles: where they go, what they cost, how they are called."""
