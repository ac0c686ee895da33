"""exp and its kin on f32 numbers, in f64, to within 2**-43 of the result, 2**-48 for powers.

e**x = 2**t with t = x / ln 2, and 2**t = 2**k (1 + f Q(f)) with k = round(t), f = t - k and a
polynomial Q. The coefficients interpolate at Chebyshev nodes (`test/exhaustive/polynomials.py`).
"""

import math

from mlir_fp8.lowering.real_functions.real import Bits, Real

_LOG2_E = 1.4426950408889634
# (2**f - 1) / f for |f| <= 1/2
EXP2 = (
    0.6931471805599453,
    0.2402265069581221,
    0.05550410866475993,
    0.009618129159714186,
    0.00133335581792394,
    0.00015403455553573818,
    1.5252686658011347e-05,
    1.3255304503367413e-06,
    1.0203171216524443e-07,
)
# More terms where the result is not rounded to f32 next: powers, whose ties must be exact, and f64
EXP2_FINE = (
    0.6931471805599462,
    0.24022650695910075,
    0.05550410866465031,
    0.009618129107618587,
    0.0013333558201121807,
    0.00015403530424965467,
    1.5252672680766572e-05,
    1.3215451492282766e-06,
    1.0205961150202628e-07,
    7.071010049621724e-09,
)
_LIMIT = 120.0
"""e**120 is beyond the range of f32, and so is e**-120, whose subnormals begin at 2**-149."""


def _power(fraction: Real, k: Bits, table: tuple[float, ...] = EXP2) -> Real:
    """2**(k + fraction) for bits that end in k and a fraction of up to half, NaN where that is."""
    return (fraction.polynomial((1.0, *table)).bits() + (k << 52)).as_real()


def _minus_one(fraction: Real, k: Bits) -> Real:
    """2**(k + fraction) - 1, without cancellation."""
    power = ((k << 52) + (1023 << 52)).as_real()
    return power.times_plus(fraction * fraction.polynomial(EXP2), power - 1.0)


def _split(x: Real, factor: float) -> tuple[Real, Bits]:
    """x * factor minus its nearest integer, and bits that end in that integer."""
    k, bits = x.rounded(factor)
    return x.times_plus(x.like(factor), -k), bits


def exp(x: Real) -> Real:
    """Infinity and 0 beyond the limits come with the rounding to f32."""
    return _power(*_split(x.clamp(-_LIMIT, _LIMIT).wide(), _LOG2_E))


def exp_of_f64(x: Real) -> Real:
    result = _power(*_split(x.clamp(-708.0, 709.0), _LOG2_E), EXP2_FINE)
    result = (x > 709.0).choose(math.inf, result)
    return (x < -708.0).choose(0.0, result)


def expm1(x: Real) -> Real:
    result = _minus_one(*_split(x.clamp(-_LIMIT, _LIMIT).wide(), _LOG2_E))
    return result.narrow().with_sign_of(x)


def exp2(x: Real) -> Real:
    return _power(*_split(x.clamp(-300.0, 300.0).wide(), 1.0))


def exp2_of_sum(k: Bits, fraction: Real) -> Real:
    """2**(k + fraction) for bits that end in k, an integer of up to 300, and a fraction of up to
    half; exact where that is 0."""
    return _power(fraction, k, EXP2_FINE)


def sinh(x: Real) -> Real:
    """With E = e**|x| - 1, (E + E / (E + 1)) / 2, which cancels nowhere."""
    e = _minus_one(*_split(abs(x).clamp(0.0, _LIMIT).wide(), _LOG2_E))
    return ((e + e / (e + 1.0)) * 0.5).narrow().with_sign_of(x)


def cosh(x: Real) -> Real:
    e = exp(abs(x))
    return (e + 1.0 / e) * 0.5
