"""StableHLO to linalg on tensors and scf: control flow, sort, windows, scatter, expanders."""
