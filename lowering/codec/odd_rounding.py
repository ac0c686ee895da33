"""Rounding 64-bit integers to odd in the 53 bits of f64, so that a second rounding is innocuous.

t = (x | ((x & LOW) + LOW)) & ~LOW, for x of at least EXACT in magnitude, is rounding to odd: with x
= 2^11 q + r it is 2^11 (q | (r != 0)). An inexact t is odd in units of 2^11, while the values and
midpoints of every type of at most 51 bits are even there: t and x lie on the same side of them.
`float_normalization` writes it in StableHLO, `convert_small_floats_to_int` in arith.
"""

LOW = (1 << 11) - 1
"""The bits that 64-bit integers have and f64 has not."""

EXACT = 1 << 53
"""Integers below are exact in f64."""
