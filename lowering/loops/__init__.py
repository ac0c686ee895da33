"""The other linalg ops as loops: collapsed, tiled, vectorized, parallelized."""
