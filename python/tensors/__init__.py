"""Arrays of other libraries at the door: torch tensors, JAX arrays, DLPack and safetensors files."""
