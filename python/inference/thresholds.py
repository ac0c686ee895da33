"""Which magnitude a format's largest number is to hold, from how many there were of each size."""

import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS

_CANDIDATES = 64
"""Thresholds that are tried, an eighth of a power of two apart."""


def edges(count: int) -> np.ndarray:
    """The smallest magnitude of each bin, and beyond the last: bins are the leading bits of f32."""
    shift = 32 - count.bit_length()  # a magnitude has 31 bits
    bits = (np.arange(count + 1, dtype=np.uint32) << shift).astype(np.uint32)
    with np.errstate(all="ignore"):
        return bits.view(np.float32).astype(np.float64)


def percentile(counts: np.ndarray, share: float) -> np.float32:
    """The magnitude that `share` of the counted elements do not exceed, within its bin linear."""
    total = counts.cumsum()
    wanted = share * total[-1]
    at = int(np.searchsorted(total, wanted))
    low, high = edges(len(counts))[[at, at + 1]]
    before = float(total[at] - counts[at])
    return np.float32(low + (high - low) * ((wanted - before) / max(float(counts[at]), 1.0)))


def least_error(counts: np.ndarray, largest: float, format_: str) -> np.float32:
    """The magnitude, `largest` or below, by which the squared error of rounding and clamping is
    least; the elements of a bin are taken for evenly spread over it."""
    used = np.flatnonzero(counts)
    if not len(used) or largest == 0:
        return np.float32(largest)
    bounds = edges(len(counts))
    low, high = bounds[used], np.minimum(bounds[used + 1], largest)
    # Four points of each bin, as rounding differs within it.
    points = low[:, None] + (high - low)[:, None] * (np.arange(4) + 0.5) / 4
    weights = counts[used].astype(np.float64)
    top = float(FORMATS[format_].max)
    dtype = element_dtype(format_)

    thresholds = largest * 2.0 ** (-np.arange(_CANDIDATES) / 8)
    scales = (thresholds / top)[:, None, None]
    codes = (points / scales).clip(max=top).astype(np.float32).astype(dtype)
    off = codes.astype(np.float64) * scales - points
    return np.float32(thresholds[np.argmin((off**2).mean(2) @ weights)])
