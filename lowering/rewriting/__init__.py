"""Building, inlining and retyping ops, for the passes of several stages."""
