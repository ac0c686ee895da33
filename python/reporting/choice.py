"""Which format, and which scale, a tensor would lose least in."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_fp8.arrays.values import blocks, wide
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.reporting.distance import decibels

CANDIDATES: tuple[FloatFormat, ...] = tuple(
    fmt for fmt in SMALL_FLOATS.values() if fmt.bits == 8 and fmt.has_zero
)
"""The 8-bit formats that hold numbers of both signs; f8E8M0FNU is for scales."""

# f64, and exponents whose squares vanish beside 1.
_MANTISSA, _BIAS, _REACH = 52, 1023, 900
_CACHED = 1 << 14
"""Elements that stay in the cache while every format is tried."""


@dataclass(frozen=True)
class Candidate:
    """What rounding to `format` would cost: SQNR in dB, None where nothing is lost.

    Numbers beyond the largest one become that, as where frameworks clamp.
    """

    format: FloatFormat
    scale_log2: int
    """The largest power of two that keeps amax within the format's range."""
    as_is: float | None
    scaled: float | None
    """After a multiplication by 2^`scale_log2`, which is undone behind the rounding."""


def headroom(fmt: FloatFormat, amax: float) -> float:
    """log2(max / amax): how many bits lie between the largest magnitude and the format's."""
    return math.log2(float(fmt.max)) - math.log2(amax)


def scale_log2(fmt: FloatFormat, amax: float) -> int:
    """The largest k for which amax * 2^k is at most the format's largest number."""
    top, of_format = math.frexp(amax), math.frexp(float(fmt.max))
    return of_format[1] - top[1] - (top[0] > of_format[0])


def candidates(
    array: np.ndarray, amax: float, formats: Sequence[FloatFormat] = CANDIDATES
) -> list[Candidate]:
    """Each of `formats` for the finite elements of `array`, of which `amax` > 0 is the largest."""
    scales = [scale_log2(fmt, amax) for fmt in formats]
    # In units of the power of two of amax, where squares of f64 neither overflow nor vanish.
    unit = -math.frexp(amax)[1]
    signal = 0.0
    pairs = zip(formats, scales, strict=True)
    grids = [_Grid.of(fmt, shift) for fmt, scale in pairs for shift in (-unit, scale - unit)]
    noise = np.zeros(len(grids))
    for block in blocks(array):
        numbers = wide(block)
        sizes = np.ldexp(np.abs(numbers[np.isfinite(numbers)]), unit)
        for start in range(0, sizes.size, _CACHED):
            piece = sizes[start : start + _CACHED]
            exponents = np.clip((piece.view(np.int64) >> _MANTISSA) - _BIAS, -_REACH, _REACH)
            integers = np.ldexp(1.5, exponents + _MANTISSA)
            signal += float(np.square(piece).sum())
            noise += [grid.noise(piece, integers) for grid in grids]
    losses = [decibels(signal, each) if each else None for each in noise.tolist()]
    return [
        Candidate(fmt, scale, losses[2 * row], losses[2 * row + 1])
        for row, (fmt, scale) in enumerate(zip(formats, scales, strict=True))
    ]


@dataclass(frozen=True)
class _Grid:
    """The magnitudes of a format over a power of two, for numbers below 1."""

    ulp: float
    subnormal: float
    """1.5 * 2^(52 + e) for the exponent e of the smallest normal number."""
    largest: float

    @classmethod
    def of(cls, fmt: FloatFormat, shift: int) -> "_Grid":
        """The numbers of `fmt` over 2^`shift`."""
        lowest = math.frexp(float(fmt.smallest_normal))[1] - 1 - shift
        subnormal = math.ldexp(1.5, min(max(lowest, -_REACH), _REACH) + _MANTISSA)
        with np.errstate(over="ignore"):
            largest = float(np.ldexp(float(fmt.max), -shift))
        return cls(2.0**-fmt.mantissa_bits, subnormal, largest)

    def noise(self, sizes: np.ndarray, integers: np.ndarray) -> float:
        """The sum of squared errors of `sizes` rounded to nearest, ties to even, saturated.

        `integers` is 1.5 * 2^(52 + e) with the exponent e of each: adding and subtracting 2^-m of
        that rounds to m bits. Where e is out of reach, `sizes` are zero beside it, or squares are.
        """
        steps = np.maximum(integers, self.subnormal)
        steps *= self.ulp
        error = sizes + steps
        error -= steps
        np.minimum(error, self.largest, out=error)
        error -= sizes
        np.square(error, out=error)
        return float(error.sum())
