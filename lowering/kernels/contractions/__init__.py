"""Contractions among linalg ops on buffers, and what before and after them can be fused."""
