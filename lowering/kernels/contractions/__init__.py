"""Contractions among linalg ops on buffers, and the producers and consumers that fuse with them."""
