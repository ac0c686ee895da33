"""Exact reference conversions between codes and numbers, in arithmetic on integers.

Slow and obvious on purpose: the judge of the compiled casts, independent of ml_dtypes and of any
floating-point unit.
"""

import math
from fractions import Fraction

from mlir_fp8.dialects.float_formats import FloatFormat, NanEncoding
from mlir_fp8.dialects.rounding_modes import RoundingMode


def decode(fmt: FloatFormat, code: int) -> Fraction | float:
    """The number that `code` stands for.

    Finite values come as exact rationals, except negative zero, which is the float `-0.0`;
    infinities and NaN come as floats.
    """
    if not 0 <= code < 1 << fmt.bits:
        raise ValueError(f"{code:#x} is not a code of {fmt.name}, which has {fmt.bits} bits")
    if fmt.nan is NanEncoding.NEGATIVE_ZERO and code == fmt.nan_code:
        return math.nan
    magnitude = code & fmt.magnitude_mask
    negative = bool(code & fmt.sign_mask)
    if magnitude > fmt.max_code:
        if magnitude == fmt.infinity_code:
            return -math.inf if negative else math.inf
        return math.nan
    value = fmt.magnitude(magnitude)
    if negative and value == 0:
        return -0.0
    return -value if negative else value


def encode(
    fmt: FloatFormat,
    value: Fraction | float,
    *,
    saturate: bool = False,
    rounding: RoundingMode = RoundingMode.NEAREST_EVEN,
    draw: Fraction = Fraction(0),
    negative: bool | None = None,
) -> int:
    """The code of `value`, rounded to nearest, ties to even, or as `rounding` says.

    Stochastic rounding takes the larger of two neighbours where `draw`, from 0 up to but not 1, and
    the fraction of the last place that is cut off make 1 or more.

    Beyond the range, `saturate` gives the largest finite value of that sign; otherwise the result
    is infinity, or NaN in a format without infinity, or the largest finite value in one without
    either; toward zero it is the largest finite value, but for an infinity. `negative` is the sign
    of a NaN (a float NaN's own sign bit by default).

    What a format has no code for follows ml_dtypes: NaN to f6 and f4 gives the zero of the other
    sign; zero and negative numbers to f8E8M0FNU give NaN. The zeros of a format with zero and
    without sign are one.
    """
    if negative is None:
        negative = math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0
    sign = fmt.sign_mask if negative else 0
    if isinstance(value, float) and math.isnan(value):
        return _nan(fmt, sign)
    if not fmt.signed and (value < 0 or (value == 0 and not fmt.has_zero)):
        return _nan(fmt, sign)
    if isinstance(value, float) and math.isinf(value):
        magnitude = fmt.max_code + 1
    else:
        magnitude = _round(fmt, *abs(value).as_integer_ratio(), rounding, draw)
        if rounding is RoundingMode.TOWARD_ZERO:
            magnitude = min(magnitude, fmt.max_code)
    if magnitude > fmt.max_code:
        magnitude = fmt.max_code if saturate else fmt.overflow_code
        if magnitude == fmt.nan_code:
            return _nan(fmt, sign)
    if magnitude == 0 and not fmt.has_negative_zero:
        return 0
    return magnitude | sign


def _nan(fmt: FloatFormat, sign: int) -> int:
    if fmt.nan_code is None:
        return sign ^ fmt.sign_mask
    return fmt.nan_code | sign


def _round(
    fmt: FloatFormat, numerator: int, denominator: int, rounding: RoundingMode, draw: Fraction
) -> int:
    """The code of a magnitude, a ratio of integers, rounded in an unbounded exponent range."""
    if not fmt.has_zero and Fraction(numerator, denominator) < fmt.smallest_normal:
        return 0
    lowest = 1 if fmt.has_zero else 0
    exponent = max(_floor_log2(numerator, denominator), lowest - fmt.bias)
    numerator, denominator = _scaled(numerator, denominator, fmt.mantissa_bits - exponent)
    significand, rest = divmod(numerator, denominator)
    match rounding:
        case RoundingMode.NEAREST_EVEN:
            is_tie = 2 * rest == denominator
            significand += significand % 2 if is_tie else 2 * rest > denominator
        case RoundingMode.TOWARD_ZERO:
            pass
        case RoundingMode.STOCHASTIC:
            significand += Fraction(rest, denominator) + draw >= 1
    steps = significand + ((exponent + fmt.bias - lowest) << fmt.mantissa_bits)
    # Where code 0 is a zero, the significands before the first one of a normal are codes too.
    return steps if fmt.has_zero else steps - (1 << fmt.mantissa_bits)


def _floor_log2(numerator: int, denominator: int) -> int:
    if numerator == 0:
        return -(10**6)
    exponent = numerator.bit_length() - denominator.bit_length()
    scaled, unit = _scaled(numerator, denominator, -exponent)
    return exponent if scaled >= unit else exponent - 1


def _scaled(numerator: int, denominator: int, exponent: int) -> tuple[int, int]:
    """The ratio times two to `exponent`."""
    if exponent < 0:
        return numerator, denominator << -exponent
    return numerator << exponent, denominator
