"""What mlir-fp8 does for PyTorch, which is imported when it is first needed."""
