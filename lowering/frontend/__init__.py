"""MHLO, CHLO, other dialects, open sizes, custom calls and shardings to plain StableHLO."""
