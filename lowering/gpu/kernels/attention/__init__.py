"""Attention on f8 codes by `wgmma`, with the softmax between its two products, in one kernel."""
