"""Which format, and which scale, a tensor would lose least in."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.reporting.distance import decibels
from mlir_fp8.values import blocks, wide

CANDIDATES: tuple[FloatFormat, ...] = tuple(
    fmt for fmt in SMALL_FLOATS.values() if fmt.bits == 8 and fmt.has_zero
)
"""The 8-bit formats that hold numbers of both signs; f8E8M0FNU is for scales."""


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
    noise = np.zeros((len(formats), 2))
    for block in blocks(array):
        numbers = wide(block)
        sizes = np.ldexp(np.abs(numbers[np.isfinite(numbers)]), unit)
        exponents = np.frexp(sizes)[1] - 1
        signal += float(np.square(sizes).sum())
        for row, (fmt, scale) in enumerate(zip(formats, scales, strict=True)):
            for column, shift in enumerate((-unit, scale - unit)):
                error = _rounded(sizes, exponents, fmt, shift) - sizes
                noise[row, column] += np.square(error).sum()
    losses = [[decibels(signal, each) if each else None for each in row] for row in noise.tolist()]
    return [
        Candidate(fmt, scale, *loss)
        for fmt, scale, loss in zip(formats, scales, losses, strict=True)
    ]


def _rounded(sizes: np.ndarray, exponents: np.ndarray, fmt: FloatFormat, shift: int) -> np.ndarray:
    """`sizes` * 2^`shift` rounded to `fmt`, to nearest, ties to even, saturated; over 2^`shift`.

    All in f64, where only the rounding to an integral number of steps rounds.
    """
    lowest = math.frexp(float(fmt.smallest_normal))[1] - 1 - shift
    steps = np.maximum(exponents, lowest) - fmt.mantissa_bits
    rounded = np.ldexp(np.rint(np.ldexp(sizes, -steps)), steps)
    with np.errstate(over="ignore"):
        largest = np.ldexp(float(fmt.max), -shift)
    return np.minimum(rounded, largest)
