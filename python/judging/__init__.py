"""Who else says what a module computes: the interpreter, XLA, exact rounding; and comparisons."""
