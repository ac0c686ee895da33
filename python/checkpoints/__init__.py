"""FP8 checkpoints as they are shipped: safetensors with f8 weights and their scales."""
