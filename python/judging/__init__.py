"""Independent references for what a module computes: the interpreter, XLA; and comparisons."""
