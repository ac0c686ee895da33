"""The `fp8` dialect, scaling that is made, found, fused and explained, and the forms of XLA:GPU."""
