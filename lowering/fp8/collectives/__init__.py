"""Collectives whose data travels in FP8: quantized before, dequantized after."""
