"""Arrays of other libraries: torch tensors, JAX arrays, DLPack and safetensors files."""
