"""Matrix products as kernels made for the processor: what `linalg-contract-to-kernels` writes."""
