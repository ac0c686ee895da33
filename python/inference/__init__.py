"""Inference in FP8: weights prepared once, activations calibrated, what to leave wide."""
