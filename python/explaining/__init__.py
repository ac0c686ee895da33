"""Which dots run in FP8 and why others do not; what is suspicious about a module's FP8."""
