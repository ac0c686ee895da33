"""KV caches in f8: rows quantized as they are written, scales applied where attention reads."""
