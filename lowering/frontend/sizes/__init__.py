"""Ops on sizes of the shape, tensor, arith, math and cf dialects, as StableHLO; see its pass."""
