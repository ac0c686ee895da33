"""Attention found in StableHLO: two products with a softmax between them."""
