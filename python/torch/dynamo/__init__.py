"""The backend `mlir_fp8` of `torch.compile`: graphs of TorchDynamo as native code."""
