"""linalg on tensors, before bufferization: what must not be folded, fused or copied."""
