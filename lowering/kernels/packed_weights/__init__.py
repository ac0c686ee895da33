"""Weights of the entry function that kernels read in panels."""
