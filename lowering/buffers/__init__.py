"""What bufferization is told: which tensors alias, and which must not."""
