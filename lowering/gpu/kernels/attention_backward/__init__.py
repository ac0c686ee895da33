"""Gradients of an attention by `wgmma` on bf16 or f16, its probabilities computed again."""
