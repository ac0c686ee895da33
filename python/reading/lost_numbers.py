"""Literals that a float type has no code for, so that rounding would change their kind.

Zero and negative numbers without zero and sign, NaN and infinity without them, and what is beyond
the range of a type without infinity.
"""

from fractions import Fraction
from functools import cache, lru_cache

from mlir_fp8.dialects.float_formats import FloatFormat


@lru_cache(maxsize=1 << 16)
def lost(literal: str, fmt: FloatFormat) -> str:
    """Why `fmt` has no code for `literal`, and which codes it has; empty where it has one.

    `literal` is a decimal, `inf` or `nan`, with a sign or without.
    """
    if literal.endswith("nan"):
        reason = f"has no code in {fmt.name}, which has no NaN: compute in f32, or choose a number"
        return "" if fmt.has_nan else reason
    if literal.endswith("inf"):
        reason = f"has no code in {fmt.name}, which has no infinity: {_largest(fmt)}"
        return "" if fmt.has_infinity else reason
    value = float(literal)
    if value == 0 and not fmt.has_zero:
        smallest = f"its smallest value is {spelled(0, fmt)}, 2^{-fmt.bias}"
        return f"has no code in {fmt.name}, which has no zero: {smallest}, {_nan(fmt)}"
    if value < 0 and not fmt.signed:
        return f"has no code in {fmt.name}, which has no sign: {_largest(fmt)}"
    if not fmt.has_infinity and _is_beyond(abs(value), fmt):
        return f"is beyond the range of {fmt.name}, which has no infinity: {_largest(fmt)}"
    return ""


def spelled(code: int, fmt: FloatFormat) -> str:
    """`code` as MLIR writes it."""
    return f"0x{code:0{-(-fmt.bits // 4)}X}"


def _is_beyond(magnitude: float, fmt: FloatFormat) -> bool:
    """Whether rounding to nearest, ties to even, in an unbounded range gives more than `max`."""
    limit, tie_is_beyond = _limit(fmt)
    return magnitude > limit or (tie_is_beyond and magnitude == limit)


@cache
def _limit(fmt: FloatFormat) -> tuple[float, bool]:
    last_place = fmt.max / ((1 << fmt.mantissa_bits) + fmt.max_code % (1 << fmt.mantissa_bits))
    # The significand decides a tie; it is the code's parity but where there is no mantissa.
    significand_is_odd = fmt.mantissa_bits == 0 or fmt.max_code % 2 == 1
    return float(fmt.max + last_place * Fraction(1, 2)), significand_is_odd


def _largest(fmt: FloatFormat) -> str:
    return f"its largest value is {float(fmt.max):g}, {_nan(fmt)}"


def _nan(fmt: FloatFormat) -> str:
    return "it has no NaN" if fmt.nan_code is None else f"NaN is {spelled(fmt.nan_code, fmt)}"
