"""Scaling made by the compiler: recipes, quantizers, and the state that they keep between steps."""
