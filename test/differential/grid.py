"""Which numbers a value may hold, so that a program knows which of its sums are exact.

A value on a grid holds multiples of 2^low of at most 2^high. A sum of such values that stays within
2^24 multiples is exact in f32 in any order, and so has one right answer, to the bit.
"""

from dataclasses import dataclass
from math import frexp

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat


@dataclass(frozen=True)
class Grid:
    """Finite multiples of 2^low, of magnitude 2^high at most."""

    low: int
    high: int

    def joined(self, other: "Grid") -> "Grid":
        """What holds either."""
        return Grid(min(self.low, other.low), max(self.high, other.high))

    def plus(self, other: "Grid") -> "Grid":
        wider = self.joined(other)
        return Grid(wider.low, wider.high + 1)

    def times(self, other: "Grid") -> "Grid":
        return Grid(self.low + other.low, self.high + other.high)

    def summed(self, count: int) -> "Grid":
        """Sums of at most `count` values."""
        return Grid(self.low, self.high + max(count - 1, 0).bit_length())

    def is_exact_in(self, fmt: FloatFormat) -> bool:
        """Whether `fmt` holds every multiple up to the bound."""
        return (
            self.high - self.low <= fmt.mantissa_bits + 1
            and 2**self.low >= fmt.smallest_subnormal
            and 2**self.high <= fmt.max
        )

    def rounded_to(self, element: str) -> "Grid | None":
        """The grid after rounding to `element`; None where that may overflow or has no zero."""
        if element not in FORMATS:
            return self
        fmt = FORMATS[element]
        if not fmt.has_zero or 2**self.high > fmt.max:
            return None
        # What is rounded to a coarser grid is on this one too, and a power of two stays a bound.
        return self


def accumulator(*elements: str) -> FloatFormat:
    """What sums over `elements` are done in: f64 where one of them is, else f32."""
    return FORMATS["f64" if "f64" in elements else "f32"]


def highest_power(fmt: FloatFormat) -> int:
    """The exponent of the largest power of two in `fmt`."""
    return frexp(float(fmt.max))[1] - 1
