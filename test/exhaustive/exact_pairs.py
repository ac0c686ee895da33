"""Transcendental functions of two f64 numbers, rounded to odd as in `exact_functions`."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
from exact_functions import digamma, to_odd
from mpmath import mpf

_DOUBLE_BITS = 53
# B(2k) from k = 1 on.
_BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
_FARTHEST = 1100  # the binary exponent beyond which no format tells results apart


def power(x: float, y: float) -> float:
    """As IEEE 754 has `pow`: 1 to any power and any number to the power 0 are 1, NaN included."""
    if x in (0, 1) or y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        if x == 0 and y < 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.pow(x, y)
    if x < 0 and y != math.floor(y):
        return math.nan
    magnitude = _power(abs(x), y)
    return -magnitude if x < 0 and y % 2 == 1 else magnitude


@cache
def _power(x: float, y: float) -> float:
    exponent = y * math.log2(x)
    if abs(exponent) > _FARTHEST:
        return 2.0**1000 if exponent > 0 else 2.0**-1000
    return to_odd(mpmath.power, x, y)


def atan2(y: float, x: float) -> float:
    """With signed zeros as in IEEE 754; multiples of pi/4 are irrational: f64's will do."""
    if math.isnan(x) or math.isnan(y) or x == 0 or y == 0 or math.isinf(x) or math.isinf(y):
        return math.atan2(y, x)
    return math.copysign(_atan2(abs(y), x), y)


@cache
def _atan2(y: float, x: float) -> float:
    return to_odd(mpmath.atan2, y, x)


def zeta(s: float, q: float) -> float:
    """Hurwitz's, as CHLO has it: infinite at s = 1, NaN below.

    For q of 0 and below s must be an integer, and at a pole an even one, for the sum to be real.
    """
    if math.isnan(s) or math.isnan(q) or s < 1:
        return math.nan
    if s == 1:
        return math.inf
    if q <= 0:
        return _zeta_below(s, q)
    if math.isinf(q):
        return 0.0
    if math.isinf(s):
        return 1.0 if q == 1 else math.inf if q < 1 else 0.0
    return _zeta(s, q)


def _zeta_below(s: float, q: float) -> float:
    if math.isinf(s) or math.isinf(q) or s != math.floor(s):
        return math.nan
    if q == math.floor(q):
        return math.inf if s % 2 == 0 else math.nan
    return _zeta(s, q)


@cache
def _zeta(s: float, q: float) -> float:
    return _by_zeta(s, q, 0.0, lambda: mpf(1))


def _by_zeta(s: float, q: float, exponent: float, factor: Callable[[], Any]) -> float:
    """zeta(s, q) times a factor of about 2^`exponent`, rounded to odd."""
    far = _far_zeta(s, q, exponent)
    quick = _quick_zeta(s, q, factor) if far is None else far
    return to_odd(lambda s, q: factor() * _hurwitz(s, q), s, q) if quick is None else quick


def _quick_zeta(s: float, q: float, factor: Callable[[], Any]) -> float | None:
    """The same from f64, where its error leaves no doubt about 8 bits of the result."""
    base = q if q > 0 else min(q % 1, -q % 1)
    lead = 1.0 if q > 0 or s % 2 == 0 or -q % 1 != base else -1.0
    others, doubt = _other_terms(s, q, base)
    total = lead + others
    if total == 0:
        return None
    with mpmath.workprec(120):
        scaled = factor() * mpf(base) ** -mpf(s)
        mantissa, exponent = mpmath.frexp(scaled * total)
    if abs(exponent) > 1000:
        return None
    doubt *= 512 / abs(total)
    number = float(mantissa) * 512
    if abs(number - round(number)) > doubt:
        kept = int(float(mantissa) * 2.0**_DOUBLE_BITS) | 1
        return math.ldexp(kept, int(exponent) - _DOUBLE_BITS)
    if abs(others) * 512 > doubt:
        return None
    # Nearly all is the first term: if f64 holds that, the others only say on which side it is.
    first = lead * to_odd(lambda s, base: factor() * base**-s, s, base)
    is_exact = first * 2.0 ** (9 - int(exponent)) % 1 == 0
    return math.nextafter(first, math.copysign(math.inf, others)) if is_exact else None


def _other_terms(s: float, q: float, base: float) -> tuple[float, float]:
    """What is left of zeta(s, q) without its largest term, in units of that (or nothing would be
    in range), and what f64 may be wrong by."""
    enough, a, total, size, missing = (_DOUBLE_BITS + s) / 2, q, 0.0, 1.0, 0.0
    found = False
    while a < enough:
        term = (base / abs(a)) ** s
        if abs(a) == base and not found:
            found = True
        else:
            total += term if a > 0 or s % 2 == 0 else -term
            size += term
        a += 1
        if a > 1 and found and term * (1 + a) < 2.0**-70 * size:
            return total, 2.0**-48 * (s + _DOUBLE_BITS) * size
    last = (base / a) ** s
    rest = a / (s - 1) + 0.5
    rising = s / a
    for k, (top, bottom) in enumerate(_BERNOULLI, 1):
        missing = top / bottom / math.factorial(2 * k) * rising
        rest += missing
        rising *= (s + 2 * k - 1) * (s + 2 * k) / a**2
    total += last * rest - (0.0 if found else 1.0)
    size += last * abs(rest)
    # The series alternates: less than its last term is missing.
    return total, 2.0**-48 * (s + _DOUBLE_BITS) * size + abs(last * missing)


def _far_zeta(s: float, q: float, factor: float = 0.0) -> float | None:
    """2^1000 or 2^-1000 for what is beyond, where 2^`factor` multiplies it; q^-s rules there."""
    if q < 0:
        return None
    exponent = factor - s * math.log2(q)
    if exponent > _FARTHEST:
        return 2.0**1000
    if exponent + math.log2(1 + q / (s - 1)) < -_FARTHEST:
        return 2.0**-1000
    return None


def _hurwitz(s: Any, q: Any) -> Any:
    """Terms of the sum, then Euler's and Maclaurin's formula for the rest (DLMF 25.11.5)."""
    precision: int = mpmath.mp.prec  # pyright: ignore[reportAssignmentType]
    enough = (precision + s) / 4
    total, a = mpf(0), q
    while a < enough:
        term = a**-s
        total += term
        a += 1
        if a > 1 and abs(term) * (1 + a) < mpmath.eps * abs(total):
            return total
    last = a**-s
    total += last * (a / (s - 1) + 0.5)
    factor = s * last / a
    for k in range(1, 2 * precision):
        term = _bernoulli(k, precision) * factor
        total += term
        if abs(term) < mpmath.eps * abs(total):
            return total
        factor *= (s + 2 * k - 1) * (s + 2 * k) / a**2
    raise ArithmeticError(f"zeta({s}, {q}) does not converge to {precision} bits")


@cache
def _bernoulli(k: int, precision: int) -> Any:
    """B(2k) / (2k)! in the precision that is set."""
    return mpmath.bernoulli(2 * k) / mpmath.factorial(2 * k)


def polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma, for integers n from 0 on; NaN elsewhere."""
    if math.isnan(n) or math.isnan(x) or n < 0 or math.isinf(n) or n % 1 != 0:
        return math.nan
    if n == 0:
        return math.nan if x == -math.inf else digamma(x)
    sign = 1.0 if n % 2 else -1.0
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return sign * zeta(n + 1, x)
    return sign * _polygamma(n, x)


@cache
def _polygamma(n: float, x: float) -> float:
    if n > 2.0**40:
        # n! is above 2^(n (log2 n - 2)), x^-n alone can hold against it, and no sum is needed.
        exponent = n * (math.log2(n) - math.log2(math.e) - math.log2(x))
        return 2.0**1000 if exponent > 0 else 2.0**-1000
    exponent = math.lgamma(n + 1) / math.log(2)
    return _by_zeta(n + 1, x, exponent, lambda: mpmath.factorial(n))


PAIRS: dict[str, Callable[[float, float], float]] = {
    "power": power,
    "atan2": atan2,
    "zeta": zeta,
    "polygamma": polygamma,
}
"""By the op's name in StableHLO or CHLO."""
