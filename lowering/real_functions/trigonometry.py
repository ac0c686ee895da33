"""sin, cos and tan on f32 numbers, in f64, of any size, to within 2**-33 of the result.

x = m 2**(e - 23) with an integer m of 24 bits; x 2/pi is m times 2/pi shifted, of which the bits
that count for whole turns are left out (Payne and Hanek, "Radian reduction for trigonometric
functions", 1983). The rest is one product in 64-bit integers: no size needs a path of its own. No
f32 is nearer than 2**-30 to a multiple of pi/2. The coefficients interpolate at Chebyshev nodes
(`test/exhaustive/polynomials.py`).
"""

import math

from mlir_fp8.lowering.real_functions.real import Bits, Real

# 26 zeros, then the bits of 2/pi: 64 of them from bit e + 1 on count from 2 down to 2**-62.
_TWO_OVER_PI = (
    0x00000028_BE60DB93,
    0x91054A7F_09D5F47D,
    0x4D377036_D8A5664F,
    0x10E4107F_9458EAF7,
    0xAEF1586D_C91B8E90,
)
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
    """k and r with |x| = k pi/2 + r up to whole turns and |r| <= pi/4; NaN unless x is finite."""
    a = abs(x)
    bits = a.bits()
    shift = (bits >> 52) - 1022  # e + 1; less than 0 below 1/2, where nothing of this is used
    upper, lower = _window(shift)
    mantissa = ((bits >> 29) & 0x7F_FFFF) | 0x80_0000
    tail = mantissa * (lower >> 32)
    # Turns are out of range, a quadrant is 2**62. Factors of 32 bits take one instruction.
    product = ((mantissa * (upper >> 32)) << 32) + mantissa * (upper & 0xFFFF_FFFF) + (tail >> 32)
    k = ((product >> 61) + 1) >> 1
    r = (product << 2) | ((tail >> 30) & 3)
    is_small = a < 0.5
    k = is_small.choose_bits(0, k, k)
    r = is_small.choose(a, r.signed_to_real() * (math.pi / 2 * 2.0**-64))
    return k, r + (a - a)


def _window(shift: Bits) -> tuple[Bits, Bits]:
    """The 128 bits of 2/pi from bit `shift` on, which is 0 to 128."""
    is_first, is_second = (shift >> 6).is_(0), (shift >> 6).is_(1)
    words = [
        is_first.choose_bits(first, is_second.choose_bits(second, third, shift), shift)
        for first, second, third in zip(
            _TWO_OVER_PI, _TWO_OVER_PI[1:], _TWO_OVER_PI[2:], strict=False
        )
    ]
    left = shift & 63
    right = left ^ 63  # 63 - left; one more bit to the right is shifted by itself
    upper = (words[0] << left) | ((words[1] >> 1) >> right)
    lower = (words[1] << left) | ((words[2] >> 1) >> right)
    return upper, lower


def _sin_and_cos(r: Real) -> tuple[Real, Real]:
    w = r * r
    return r * w.polynomial((1.0, *SIN)), w.polynomial((1.0, *COS))


def sin(x: Real) -> Real:
    x = x.wide()
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    negative = ((k & 2) << 62) ^ (x.bits() & (1 << 63))
    return ((k & 1).is_(0).choose(sine, cosine).bits() ^ negative).as_real()


def cos(x: Real) -> Real:
    x = x.wide()
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    negative = ((k + 1) & 2) << 62
    return ((k & 1).is_(0).choose(cosine, sine).bits() ^ negative).as_real()


def tan(x: Real) -> Real:
    x = x.wide()
    k, r = _quadrant(x)
    sine, cosine = _sin_and_cos(r)
    is_even = (k & 1).is_(0)
    tangent = is_even.choose(sine, cosine) / is_even.choose(cosine, sine)
    return (tangent.bits() ^ (k << 63) ^ (x.bits() & (1 << 63))).as_real()
