"""Weights quantized once: which tensors they are, their scales, and what reads them."""
