"""Attention and its gradients found in a training step's StableHLO."""
