"""Casts of f8 by NVIDIA's conversion instructions, and what these do otherwise."""
