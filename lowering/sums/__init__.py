"""Sums in linalg and in StableHLO, and their blocking."""
