"""Modules run by XLA through JAX, on the CPU or on GPUs; what runs a ready artifact has no MLIR.

A machine that runs portable artifacts needs jax and numpy alone: nothing here but `making` imports
the compiler.
"""
