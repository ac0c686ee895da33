"""Scaled products in the form that XLA:GPU runs in FP8: `fp8-canonicalize-for-xla-gpu`."""
