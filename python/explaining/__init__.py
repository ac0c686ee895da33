"""Which dots run in FP8 and why others do not; a lint of a module's FP8 ops."""
