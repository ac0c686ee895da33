"""Signal to quantization noise: how far values are from what they are without rounding."""

import math
from dataclasses import dataclass

import numpy as np

from mlir_fp8.arrays.values import blocks, wide

FINITE = "finite"
EQUAL = "equal"
BROKEN = "infinite or NaN where f32 is finite"
NO_SIGNAL = "f32 is all zero"
NO_REFERENCE = "f32 is infinite or NaN"
NO_ELEMENTS = "no elements"

KINDS = (FINITE, EQUAL, BROKEN, NO_SIGNAL, NO_REFERENCE, NO_ELEMENTS)
_WORST_FIRST = (BROKEN, FINITE, NO_REFERENCE, NO_SIGNAL, EQUAL, NO_ELEMENTS)
_TINY = 5e-324


@dataclass(frozen=True)
class Distance:
    """SQNR in dB: 10 log10(sum ref^2 / sum (x - ref)^2), in f64; ref is the program in f32.

    Elements that are NaN in both, or the same infinity, are left out of the sums.
    """

    kind: str
    """One of `KINDS`."""
    db: float | None = None
    """The SQNR where the kind is FINITE, else None."""

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller is worse; what cannot be said comes before what is equal."""
        return _WORST_FIRST.index(self.kind), self.db or 0.0

    def __str__(self) -> str:
        return self.kind if self.db is None else f"{self.db:.1f} dB"


def sqnr(array: np.ndarray, reference: np.ndarray) -> Distance:
    """The SQNR of `array` against `reference`, of one shape and any float dtypes."""
    if not array.size:
        return Distance(NO_ELEMENTS)
    ref_shift = _shift(reference)
    # One less: a difference is up to twice as large as what it is of.
    shift = min(ref_shift, _shift(array)) - 1
    noise = signal = 0.0
    is_equal = True
    is_broken = is_unlike = has_signal = False
    for mine, other in zip(blocks(array), blocks(reference), strict=True):
        value, ref = wide(mine), wide(other)
        is_finite = np.isfinite(ref)
        same = (value == ref) | (np.isnan(value) & np.isnan(ref))
        is_equal &= bool(same.all())
        is_broken |= bool((is_finite & ~np.isfinite(value)).any())
        is_unlike |= bool((~is_finite & ~same).any())
        value, ref = value[is_finite], ref[is_finite]
        has_signal |= bool(ref.any())
        with np.errstate(all="ignore"):
            error = np.ldexp(value, shift) - np.ldexp(ref, shift)
            ref = np.ldexp(ref, ref_shift)
            signal += float(np.square(ref).sum())
            noise += float(np.square(error).sum())
    if is_equal:
        return Distance(EQUAL)
    if is_broken:
        return Distance(BROKEN)
    if is_unlike:
        return Distance(NO_REFERENCE)
    if not has_signal:
        return Distance(NO_SIGNAL)
    return Distance(FINITE, decibels(signal, noise) + 20 * math.log10(2) * (shift - ref_shift))


def decibels(signal: float, noise: float) -> float:
    """10 log10(signal / noise) of two numbers from 0 up, zero taken for the smallest positive."""
    return 10 * (math.log10(max(signal, _TINY)) - math.log10(max(noise, _TINY)))


def _shift(array: np.ndarray) -> int:
    """A power of two that brings f64 to where squares neither overflow nor vanish; 0 for others."""
    if array.dtype.itemsize < 8:
        return 0
    largest = 0.0
    for block in blocks(array):
        sizes = np.abs(block)
        largest = max(largest, float(sizes.max(where=np.isfinite(sizes), initial=0.0)))
    return -int(np.frexp(largest)[1])
