"""Kernels that quantize, and that update scales, as text of gpu, nvvm, vector and arith ops."""
