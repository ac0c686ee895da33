"""MHLO, CHLO, other dialects, dynamic shapes, custom calls and shardings to plain StableHLO."""
