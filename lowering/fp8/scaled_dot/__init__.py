"""Scaled FP8 dots and convolutions: found in StableHLO, fused into one op, explained."""
