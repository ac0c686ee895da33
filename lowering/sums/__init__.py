"""Sums in linalg and in StableHLO, and how they are cut into blocks."""
