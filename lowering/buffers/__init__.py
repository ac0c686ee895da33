"""What bufferization is told: which tensors share a buffer, and which must not."""
