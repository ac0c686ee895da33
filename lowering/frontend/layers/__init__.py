"""Layers: equal parts of a block that follow each other."""
