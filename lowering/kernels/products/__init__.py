"""The functions of a product or convolution: which way it is computed, packing, register tiles."""
