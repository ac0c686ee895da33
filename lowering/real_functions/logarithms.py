"""log and its kin on f32 numbers, in f64, to within 2**-45 of the result.

x = 2**e m with m between sqrt(1/2) and sqrt(2), and s = (m - 1) / (m + 1): log(m) = log((1 + s) /
(1 - s)) = 2s + s**3 R(s**2), a polynomial R. The coefficients interpolate at Chebyshev nodes
(`test/exhaustive/polynomials.py`).
"""

import math

from mlir_fp8.lowering.real_functions.real import Real

_LN2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634
_LOG10_E = 0.4342944819032518
_SQRT_HALF_BITS = 0x3FE6A09E_00000000
_ONE_BITS = 0x3FF00000_00000000
LOG = (
    0.6666666666666205,
    0.4000000001126354,
    0.2857142412022083,
    0.22222864249374918,
    0.18140107756610346,
    0.1662311658428347,
)


def log_parts(x: Real) -> tuple[Real, Real]:
    """An integer e and log(m) with x = 2**e m, for positive x, normal in f64."""
    bits = x.bits() + (_ONE_BITS - _SQRT_HALF_BITS)
    mantissa = (bits & ((1 << 52) - 1)) + _SQRT_HALF_BITS
    # The biased exponent as the low bits of a number from 2**52 on.
    exponent = ((bits >> 52) | 0x43300000_00000000).as_real() - (2.0**52 + 1023)
    f = mantissa.as_real() - 1.0
    s = f / (f + 2.0)
    w = s * s
    return exponent, s * w.polynomial((2.0, *LOG))


def _with_limits(x: Real, result: Real, origin: float = 0.0) -> Real:
    """`result`, but what a logarithm is for `origin`, infinity, NaN and less than `origin`."""
    result = (x < math.inf).choose(result, x)
    result = x.equals(origin).choose(-math.inf, result)
    return (x < origin).choose(math.nan, result)


def _log(x: Real) -> Real:
    exponent, logarithm = log_parts(x)
    return exponent.times_plus(x.like(_LN2), logarithm)


def log(x: Real) -> Real:
    return _with_limits(x, _log(x.wide()).narrow())


def log_of_f64(x: Real) -> Real:
    return _with_limits(x, _log(x))


def log2(x: Real) -> Real:
    exponent, logarithm = log_parts(x.wide())
    return _with_limits(x, logarithm.times_plus(logarithm.like(_LOG2_E), exponent).narrow())


def log10(x: Real) -> Real:
    return _with_limits(x, (_log(x.wide()) * _LOG10_E).narrow())


def log1p(x: Real) -> Real:
    """1 + x is exact in f64 for |x| >= 2**-29; below 2**-20 three terms of the series do."""
    wide = x.wide()
    series = wide - wide * wide * (0.5 - wide * (1 / 3))
    result = _with_limits(x, _log(wide + 1.0).narrow(), origin=-1.0)
    return (abs(x) < 2.0**-20).choose(series.narrow(), result)


def log1p_of_f64(z: Real) -> Real:
    result = (z < math.inf).choose(_log1p(z).with_sign_of(z), z)
    return (z > -1.0).choose(result, log_of_f64(z + 1.0))


def _log1p(z: Real) -> Real:
    """log(1 + z) for z > -1 of 53 bits, less than infinity: what 1 + z rounds off is given back."""
    u = z + 1.0
    return _log(u) + (z - (u - 1.0)) / u


def asinh(x: Real) -> Real:
    """log(1 + a + a**2 / (1 + sqrt(1 + a**2))) for a = |x|."""
    a = abs(x.wide())
    square = a * a
    result = _log1p(a + square / ((square + 1.0).sqrt() + 1.0)).narrow()
    return (abs(x) < math.inf).choose(result, x).with_sign_of(x)


def acosh(x: Real) -> Real:
    """log(1 + t + sqrt(t (t + 2))) for t = x - 1, which is exact or far from 0."""
    t = x.wide() - 1.0
    result = _log1p(t + (t * (t + 2.0)).sqrt()).narrow()
    result = (x < math.inf).choose(result, x)
    return (x < 1.0).choose(math.nan, result)


def atanh(x: Real) -> Real:
    """log((1 + a) / (1 - a)) / 2 for a = |x|, and three terms of the series below 2**-8."""
    a = abs(x.wide())
    w = a * a
    series = a + a * w * (w * 0.2 + (1 / 3))
    result = log_of_f64((a + 1.0) / (1.0 - a)) * 0.5
    return (abs(x) < 2.0**-8).choose(series.narrow(), result.narrow()).with_sign_of(x)
