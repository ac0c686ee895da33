"""linalg on tensors before it has buffers: what must not be folded, fused or copied."""
