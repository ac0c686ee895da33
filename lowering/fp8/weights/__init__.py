"""Weights quantized once: which arguments and constants they are, their scales, and who reads them."""
