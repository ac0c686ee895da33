"""Products of few rows by f8 weights, at the speed of one read of the weights."""
