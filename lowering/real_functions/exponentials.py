"""exp and its kin on f32 numbers held in f64, to within 2**-45 of the result.

e**x = 2**k (1 + p) with k = round(x / ln 2), r = x - k ln 2 and p = e**r - 1, a polynomial. ln 2
is split so that k times its upper part is exact. The coefficients interpolate at Chebyshev nodes
(`test/exhaustive/polynomials.py`).
"""

import math

from mlir_fp8.lowering.real_functions.real import Bits, Real

_LOG2_E = 1.4426950408889634
_LN2 = 0.6931471805599453
_LN2_UPPER = float.fromhex("0x1.62e42fefa0000p-1")  # 40 bits
_LN2_LOWER = float.fromhex("0x1.cf79abc9e3b3ap-40")
# (e**r - 1 - r) / r**2 for |r| <= ln(2) / 2
EXP = (
    0.5,
    0.16666666666648156,
    0.041666666666651246,
    0.008333333353839834,
    0.0013888888905973543,
    0.0001984120851210209,
    2.480153620505534e-05,
    2.7625237795740734e-06,
    2.761390867578486e-07,
)
_LIMIT = 120.0
"""e**120 is beyond the range of f32, and so is e**-120, whose subnormals begin at 2**-149."""


def _reduced(x: Real) -> tuple[Real, Real]:
    """2**k and p with e**x = 2**k (1 + p), where that is normal; NaN gives a NaN p."""
    k, bits = (x * _LOG2_E).rounded()
    r = k.times_plus(x.like(-_LN2_LOWER), k.times_plus(x.like(-_LN2_UPPER), x))
    return ((bits << 52) + (1023 << 52)).as_real(), _minus_one(r)


def _minus_one(r: Real) -> Real:
    return r.polynomial(EXP).times_plus(r * r, r)


def exp(x: Real) -> Real:
    """Infinity and 0 beyond the limits come with the rounding to f32."""
    power, p = _reduced(x.clamp(-_LIMIT, _LIMIT))
    return power.times_plus(p, power)


def exp_of_f64(x: Real) -> Real:
    power, p = _reduced(x.clamp(-708.0, 709.0))
    result = (x > 709.0).choose(math.inf, power.times_plus(p, power))
    return (x < -708.0).choose(0.0, result)


def expm1(x: Real) -> Real:
    power, p = _reduced(x.clamp(-_LIMIT, _LIMIT))
    return power.times_plus(p, power - 1.0).with_sign_of(x)


def exp2(x: Real) -> Real:
    x = x.clamp(-300.0, 300.0)
    k, bits = x.rounded()
    return exp2_of_sum(bits, x - k)


def exp2_of_sum(k: Bits, fraction: Real) -> Real:
    """2**(k + fraction) for bits that end in k, an integer of up to 300, and a fraction of up to
    half; exact where that is 0."""
    power = ((k << 52) + (1023 << 52)).as_real()
    return power.times_plus(_minus_one(fraction * _LN2), power)


def sinh(x: Real) -> Real:
    """With E = e**|x| - 1, (E + E / (E + 1)) / 2, which cancels nowhere."""
    e = expm1(abs(x))
    return ((e + e / (e + 1.0)) * 0.5).with_sign_of(x)


def cosh(x: Real) -> Real:
    e = exp(abs(x))
    return (e + 1.0 / e) * 0.5


def tanh(x: Real) -> Real:
    """With E = e**(2|x|) - 1, E / (E + 2)."""
    e = expm1(abs(x) * 2.0)
    return (e / (e + 2.0)).with_sign_of(x)
