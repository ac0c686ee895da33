"""pow, cbrt and 1/sqrt on f32 numbers, to within 2**-43 of the result."""

import math

from mlir_fp8.lowering.real_functions.exponentials import exp2_of_sum
from mlir_fp8.lowering.real_functions.logarithms import log_parts
from mlir_fp8.lowering.real_functions.real import Real, Truth

_LOG2_E = 1.4426950408889634
_BEYOND = 300.0
"""2**300 and 2**-300 are far beyond the range of f32."""


def powf(x: Real, y: Real) -> Real:
    """|x|**y = 2**(y e + y l) with |x| = 2**(e + l): y e is exact, and so is its distance from the
    nearest integer. Special cases as in C99, F.9.4.4."""
    x, y = x.wide(), y.wide()
    base = abs(x)
    exponent, logarithm = log_parts(base)
    exponent = base.equals(0.0).choose(-math.inf, exponent)
    exponent = base.equals(math.inf).choose(math.inf, exponent)
    bounded = y.clamp(-1e60, 1e60)  # infinity times log2(1) is NaN
    whole, part = bounded * exponent, bounded * (logarithm * _LOG2_E)
    total = whole + part
    k, bits = total.clamp(-_BEYOND, _BEYOND).rounded()
    fraction = (abs(total) < _BEYOND).choose((whole - k) + part, 0.0)
    result = _snapped(exp2_of_sum(bits, fraction))
    bounded = y.clamp(-(2.0**53), 2.0**53)  # from 2**24 on every f32 is even
    is_odd = _is_integer(bounded) & _has_fraction(bounded * 0.5)
    result = is_odd.choose(result.with_sign_of(x), result)
    no_root = (x < 0.0) & (x > -math.inf) & _has_fraction(bounded)
    result = no_root.choose(math.nan, result)
    result = x.unordered(y).choose(x + y, result)
    return (x.equals(1.0) | y.equals(0.0)).choose(1.0, result)


def _snapped(result: Real) -> Real:
    """Rounded to 47 bits. A power that lies half-way between two f32 has 25 bits and so comes out
    exact, and the last rounding takes it to the even one."""
    return ((result.bits() + (1 << 5)) & -(1 << 6)).as_real()


def _is_integer(y: Real) -> Truth:
    a = abs(y)
    return _without_fraction(a).equals(a)


def _has_fraction(y: Real) -> Truth:
    a = abs(y)
    return _without_fraction(a).differs(a)


def _without_fraction(a: Real) -> Real:
    """The nearest integer to a number between 0 and 2**53, where the sums are exact."""
    return (a + 2.0**52) - 2.0**52


def cbrt(x: Real) -> Real:
    """Two of Halley's steps, each of which triples the digits, from a third of the exponent."""
    x = x.wide()
    a = abs(x)
    # The bits as a number are the logarithm, piecewise straight: divided by 3, a root within 4%.
    third = ((a.bits() >> 32).signed_to_real() * (1 / 3) + (715094163.0 + 2.0**52)).bits()
    root = (third << 32).as_real()
    for _ in range(2):
        cube = root * root * root
        root = root * ((cube + a * 2.0) / (cube * 2.0 + a))
    is_regular = (a > 0.0) & (a < math.inf)
    return is_regular.choose(root.with_sign_of(x), x)


def rsqrt(x: Real) -> Real:
    """y = 1 / sqrt(x) in f32, and Newton's step y + y (1 - x y**2) / 2 from an exact x y."""
    y = 1.0 / x.sqrt()
    root = x * y
    rest = x.times_plus(y, -root)
    residue = (-rest).times_plus(y, (-root).times_plus(y, x.like(1.0)))
    # Of 0 and infinity the residue is NaN, and y is right.
    return residue.unordered(residue).choose(y, (y * 0.5).times_plus(residue, y))
