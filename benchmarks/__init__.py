"""Benchmarks: `python -m benchmarks` measures mlir-fp8 beside its peers, in one run."""
