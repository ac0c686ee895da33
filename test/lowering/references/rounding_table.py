"""Round arrays to a float format by search in the table of its midpoints.

Another way to the same codes as the compiled casts: no step of it is like theirs.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.dialects.float_reference import decode


@dataclass(frozen=True, eq=False)
class RoundingTable:
    """What the non-negative finite codes of a format of at most 16 bits stand for, in order."""

    fmt: FloatFormat
    values: np.ndarray
    """float64[max_code + 1]"""
    midpoints: np.ndarray
    """float64[max_code + 1]: between a value and the next, the last one beyond the range."""

    def round(self, numbers: np.ndarray, *, saturate: bool = False) -> np.ndarray:
        """The codes nearest to float64 numbers, ties to even; uint8[...] or uint16[...]."""
        fmt = self.fmt
        magnitude, negative = np.abs(numbers), np.signbit(numbers)
        code = np.searchsorted(self.midpoints, magnitude)
        tie = magnitude == self.midpoints[np.minimum(code, fmt.max_code)]
        # Without mantissa every significand is 1, odd, and the one above, 2, is even.
        code += tie & (code % 2 == 1 if fmt.mantissa_bits else True)
        code = np.where(code > fmt.max_code, fmt.max_code if saturate else fmt.overflow_code, code)
        if not fmt.signed:
            no_code = np.isnan(numbers) | (numbers < 0) | ((numbers == 0) & (not fmt.has_zero))
            return np.where(no_code, fmt.nan_code or 0, code).astype(self.dtype)
        sign = np.where(negative, fmt.sign_mask, 0)
        if fmt.nan_code is None:
            return np.where(np.isnan(numbers), sign ^ fmt.sign_mask, code | sign).astype(self.dtype)
        code = np.where(np.isnan(numbers), fmt.nan_code, code)
        if not fmt.has_negative_zero:
            sign = np.where(code == 0, 0, sign)
        return (code | sign).astype(self.dtype)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(f"uint{self.fmt.storage_bits}")

    @property
    def all_codes(self) -> np.ndarray:
        return np.arange(1 << self.fmt.bits).astype(self.dtype)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """float64 numbers; a NaN has the sign bit of its code."""
        fmt = self.fmt
        magnitude = codes & fmt.magnitude_mask
        numbers = self.values[np.minimum(magnitude, fmt.max_code)]
        numbers = np.where(magnitude > fmt.max_code, np.nan, numbers)
        if fmt.infinity_code is not None:
            numbers = np.where(magnitude == fmt.infinity_code, np.inf, numbers)
        numbers = np.copysign(numbers, np.where(codes & fmt.sign_mask, -1.0, 1.0))
        if fmt.has_nan and fmt.nan_code == fmt.sign_mask:
            numbers = np.where(codes == fmt.nan_code, np.copysign(np.nan, -1.0), numbers)
        return numbers


@cache
def table(fmt: FloatFormat) -> RoundingTable:
    values = [float(decode(fmt, code)) for code in range(fmt.max_code + 1)]
    last_place = math.frexp(values[-1])[1] - 1 - fmt.mantissa_bits
    ends = np.array([*values, values[-1] + 2.0**last_place])
    return RoundingTable(fmt, ends[:-1], (ends[:-1] + ends[1:]) / 2)
