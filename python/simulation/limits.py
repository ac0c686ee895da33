"""How many devices one process has; imports no MLIR."""

MOST = 512
"""Simulated, or of XLA:CPU: each is a thread."""
