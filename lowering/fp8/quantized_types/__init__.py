"""Quantized types of MLIR made of scaled FP8, and scaled FP8 made of them."""
