"""What loops cost, and which of them may be parallelized or vectorized."""
