"""Arrays from outside: torch tensors, JAX arrays, DLPack and safetensors files."""
