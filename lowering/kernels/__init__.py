"""Products and convolutions as kernels for the processor: packing, register tiles, epilogues."""
