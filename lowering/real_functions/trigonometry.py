"""sin, cos and tan on f32 numbers, in f64, of any size, to within 2**-33 of the result.

x = m 2**e with an integer m of 24 bits; x 2/pi is m times 2**e 2/pi, reduced modulo 4 (Payne and
Hanek, "Radian reduction for trigonometric functions", 1983). There are 129 such
factors, one for each exponent, each kept as the sum of two f64: no size needs a path of its own. No
f32 is nearer than 2**-30 to a multiple of pi/2. The coefficients interpolate at Chebyshev nodes
(`test/exhaustive/polynomials.py`).
"""

import math
from fractions import Fraction

from mlir_fp8.lowering.real_functions.real import Bits, Real
from mlir_fp8.lowering.real_functions.tables import looked_up

_TWO_OVER_PI = Fraction(
    0x28_BE60DB93_91054A7F_09D5F47D_4D377036_D8A5664F_10E4107F_9458EAF7_AEF1586D_C91B8E90, 1 << 294
)
_FIRST, _LAST = 126, 254
"""Biased exponents: of what is below 1, where nothing is left out, and of the largest numbers."""


def _factors() -> tuple[list[float], list[float]]:
    """2/pi modulo 4 / unit for numbers of each exponent, as the sum of two f64."""
    upper, lower = [], []
    for biased in range(_FIRST, _LAST + 1):
        unit = Fraction(2) ** (biased - 150)
        turns = unit * _TWO_OVER_PI % 4
        upper.append(float(Fraction(float(turns)) / unit))
        lower.append(float((turns - Fraction(float(turns))) / unit))
    return [*upper, math.nan], [*lower, math.nan]


_UPPER, _LOWER = _factors()
SIN = (
    -0.16666666666663885,
    0.008333333331078323,
    -0.00019841266916110632,
    2.7555990664728974e-06,
    -2.4805611712122475e-08,
)
COS = (
    -0.49999999999963873,
    0.041666666637384386,
    -0.0013888885090262895,
    2.4799861846361453e-05,
    -2.7237108576245085e-07,
)


def _quadrant(x: Real) -> tuple[Bits, Real]:
    """k and r with |x| = k pi/2 + r modulo 2 pi and |r| <= pi/4; NaN unless x is finite."""
    a = abs(x)
    index = (a.bits() >> 23).at_least(_FIRST) - _FIRST
    upper = looked_up("mlir_fp8.two_over_pi_upper", _UPPER, index)
    lower = looked_up("mlir_fp8.two_over_pi_lower", _LOWER, index)
    a = a.wide()
    product = a * upper
    rest = a.times_plus(lower, a.times_plus(upper, -product))
    k, bits = product.rounded()
    return bits, ((product - k) + rest) * (math.pi / 2)


def _sin_and_cos(r: Real) -> tuple[Real, Real]:
    w = r * r
    return r * w.polynomial((1.0, *SIN)), w.polynomial((1.0, *COS))


def sin(x: Real) -> Real:
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    result = (k & 1).is_(0).choose(sine, cosine).bits() ^ ((k & 2) << 62)
    return (result.as_real().narrow().bits() ^ (x.bits() & (1 << 31))).as_real()


def cos(x: Real) -> Real:
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    negative = ((k + 1) & 2) << 62
    return ((k & 1).is_(0).choose(cosine, sine).bits() ^ negative).as_real()


def tan(x: Real) -> Real:
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    is_even = (k & 1).is_(0)
    tangent = is_even.choose(sine, cosine) / is_even.choose(cosine, sine)
    result = (tangent.bits() ^ (k << 63)).as_real().narrow()
    return (result.bits() ^ (x.bits() & (1 << 31))).as_real()
