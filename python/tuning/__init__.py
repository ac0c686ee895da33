"""Kernels timed on the card at hand, and the tables of times by which they are chosen."""
