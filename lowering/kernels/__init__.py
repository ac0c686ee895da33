"""Products and convolutions as CPU kernels: packing, register tiles, fused epilogues."""
