"""Several devices in one process: threads of the same native code that meet in collectives."""

MOST = 512
"""Devices of one process: each is a thread, and so is one of XLA:CPU."""
