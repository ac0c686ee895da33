"""Transcendental functions by mpmath, in as many bits as it takes to round them anywhere.

Every function takes f64 numbers and gives the f64 number *rounded to odd*: the exact result if f64
holds it, else the neighbour whose last bit is 1. No value and no midpoint of a format of at most 51
bits is odd in f64, so rounding that number once more is rounding the exact result.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
from mpmath import mpf

_PRECISIONS = (120, 400, 1200)
# What mpmath's results may be wrong by, in bits of the working precision, cancellation included.
_SLACK = 20
_DOUBLE_BITS = 53
_FARTHEST = 1000  # beyond 2^1000, or below 2^-1000, every narrow format rounds alike


def to_odd(function: Callable[..., Any], *numbers: float) -> float:
    """`function` of `numbers`, rounded to odd; a complex result is NaN.

    What stays within 2^-1180 (relative) of an f64 number is taken to be that number.
    """
    number = math.nan
    for precision in _PRECISIONS:
        with mpmath.workprec(precision):
            value = function(*map(mpf, numbers))
        if isinstance(value, mpmath.mpc):
            return math.nan
        value = mpf(value)
        if not mpmath.isfinite(value) or value == 0:
            return float(value)
        decided, number = _rounded_to_odd(value, precision)
        if decided:
            break
    return number


def _rounded_to_odd(value: Any, precision: int) -> tuple[bool, float]:
    """Whether `precision` bits of `value` decide its rounding, and the number if they do."""
    sign, mantissa, exponent, width = value._mpf_
    exponent += width
    if abs(exponent) > _FARTHEST:
        magnitude = math.ldexp(1.0, _FARTHEST if exponent > 0 else -_FARTHEST)
        return True, -magnitude if sign else magnitude
    shift = precision - _DOUBLE_BITS
    scaled = int(mantissa) << (precision - width) if precision >= width else int(mantissa)
    scaled >>= max(0, width - precision)
    rest = scaled & ((1 << shift) - 1)
    decided = 1 << _SLACK < rest < (1 << shift) - (1 << _SLACK)
    kept = (scaled >> shift) | 1 if decided else (scaled + (1 << (shift - 1))) >> shift
    magnitude = math.ldexp(kept, exponent - _DOUBLE_BITS)
    return decided, -magnitude if sign else magnitude


def _odd_function(function: Callable[[Any], Any]) -> Callable[[float], float]:
    """An odd function, which keeps the sign of zero."""
    return lambda x: x if x == 0 else to_odd(function, x)


def _logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _cbrt(x: Any) -> Any:
    root = mpmath.root(abs(x), 3)
    return -root if x < 0 else root


def _with_limits(
    function: Callable[[Any], Any], at_minus: float, at_plus: float, at_zero: float | None = None
) -> Callable[[float], float]:
    """`function` with its limits at the infinities, and at the zeros where it is not odd there."""

    def limited(x: float) -> float:
        if math.isinf(x):
            return at_plus if x > 0 else at_minus
        if x == 0:
            return x if at_zero is None else at_zero
        return to_odd(function, x)

    return limited


def _on(
    low: float, high: float, function: Callable[[float], float], **at: float
) -> Callable[[float], float]:
    """`function` on [low, high] and NaN elsewhere; `at_low` and `at_high` are its poles there."""

    def restricted(x: float) -> float:
        if not low <= x <= high:
            return math.nan
        if x == low and "at_low" in at:
            return at["at_low"]
        return at["at_high"] if x == high and "at_high" in at else function(x)

    return restricted


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    if x in (1, 2):
        return 0.0
    return to_odd(_log_abs_gamma, x)


def _log_abs_gamma(x: Any) -> Any:
    if x > 0:
        return mpmath.loggamma(x)
    return mpmath.log(mpmath.pi / abs(mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def digamma(x: float) -> float:
    """NaN at the poles, where CHLO gives that too; the limit at infinity."""
    if x <= 0 and x == math.floor(x):
        return math.nan
    return x if math.isinf(x) else to_odd(mpmath.digamma, x)


def _bessel_i1e(x: Any) -> Any:
    """exp(-|x|) I1(x), by the series in 1/x where that converges to 1200 bits (DLMF 10.40.1)."""
    size = abs(x)
    if size < 1000:
        return mpmath.besseli(1, x) * mpmath.exp(-size)
    total = term = mpf(1)
    for k in range(1, 600):
        term *= -(4 - (2 * k - 1) ** 2) / (8 * k * size)
        total += term
        if abs(term) < mpmath.eps * total:
            break
    return mpmath.sign(x) * total / mpmath.sqrt(2 * mpmath.pi * size)


_INF, _NAN = math.inf, math.nan
_LOG = _on(0, _INF, _with_limits(mpmath.log, _NAN, _INF), at_low=-_INF)

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "cbrt": _with_limits(_cbrt, -_INF, _INF),
    "cosine": _with_limits(mpmath.cos, _NAN, _NAN, 1.0),
    "exponential": _with_limits(mpmath.exp, 0.0, _INF, 1.0),
    "exponential_minus_one": _with_limits(mpmath.expm1, -1.0, _INF),
    "log": _LOG,
    "log_plus_one": _on(-1, _INF, _with_limits(mpmath.log1p, _NAN, _INF), at_low=-_INF),
    "logistic": _with_limits(_logistic, 0.0, 1.0, 0.5),
    "rsqrt": lambda x: math.copysign(_INF, x) if x == 0 else _RSQRT(x),
    "sine": _with_limits(mpmath.sin, _NAN, _NAN),
    "sqrt": _on(0, _INF, _with_limits(mpmath.sqrt, _NAN, _INF)),
    "tan": _with_limits(mpmath.tan, _NAN, _NAN),
    "tanh": _with_limits(mpmath.tanh, -1.0, 1.0),
    "acos": _on(-1, 1, lambda x: 0.0 if x == 1 else to_odd(mpmath.acos, x)),
    "acosh": _on(1, _INF, _with_limits(mpmath.acosh, _NAN, _INF), at_low=0.0),
    "asin": _on(-1, 1, _odd_function(mpmath.asin)),
    "asinh": _with_limits(mpmath.asinh, -_INF, _INF),
    "atan": _with_limits(mpmath.atan, -math.pi / 2, math.pi / 2),
    "atanh": _on(-1, 1, _odd_function(mpmath.atanh), at_low=-_INF, at_high=_INF),
    "bessel_i1e": _with_limits(_bessel_i1e, -0.0, 0.0),
    "cosh": _with_limits(mpmath.cosh, _INF, _INF, 1.0),
    "digamma": lambda x: _NAN if x == -_INF else digamma(x),
    "erf": _with_limits(mpmath.erf, -1.0, 1.0),
    "erf_inv": _on(-1, 1, _odd_function(mpmath.erfinv), at_low=-_INF, at_high=_INF),
    "erfc": _with_limits(mpmath.erfc, 2.0, 0.0, 1.0),
    "lgamma": _lgamma,
    "sinh": _with_limits(mpmath.sinh, -_INF, _INF),
}
"""By the op's name in StableHLO or CHLO; not for NaN, which every one gives back."""

_RSQRT = _on(0, _INF, _with_limits(lambda x: 1 / mpmath.sqrt(x), _NAN, 0.0))


@cache
def unary(name: str, x: float, sign: float) -> float:
    """The function `name` of `x`, whose sign bit `sign` has: a cache takes -0 for 0."""
    return x if math.isnan(x) else FUNCTIONS[name](math.copysign(x, sign))
