"""asin, acos, atan and atan2 on f32 numbers, in f64, to within 2**-45 of the result.

All are the angle of a point (x, y). The smaller of |x| and |y| over the larger is t; from tan(pi/8)
on, atan(t) = pi/4 + atan((t - 1) / (t + 1)). What is left is a polynomial. The coefficients
interpolate at Chebyshev nodes (`test/exhaustive/polynomials.py`).
"""

import math

from mlir_fp8.lowering.real_functions.real import Real

_TAN_PI_8 = math.sqrt(2) - 1
# (atan(z) / z - 1) / z**2 for |z| <= tan(pi/8), in powers of z**2
ATAN = (
    -0.33333333333330906,
    0.1999999999770806,
    -0.14285713928106403,
    0.1111108953335244,
    -0.09090253072926406,
    0.07681006576048757,
    -0.06550621831263581,
    0.051677414433154024,
    -0.027215937829399475,
)


def _angle(y: Real, x: Real) -> Real:
    """The angle of (x, y) between 0 and pi, for y >= 0 and any x, not both 0 or infinite."""
    a = abs(x)
    is_steep = y > a
    small, large = is_steep.choose(a, y), is_steep.choose(y, a)
    is_wide = small > large * _TAN_PI_8
    z = is_wide.choose(small - large, small) / is_wide.choose(small + large, large)
    w = z * z
    angle = z * w.polynomial((1.0, *ATAN))
    angle = is_wide.choose(angle + math.pi / 4, angle)
    angle = is_steep.choose(math.pi / 2 - angle, angle)
    # By the sign bit: the angle of (-0, 0) is pi.
    is_left = x.like(1.0).with_sign_of(x) < 0.0
    return is_left.choose(math.pi - angle, angle)


def atan2(y: Real, x: Real) -> Real:
    """Zeros and infinities as in C: (0, 0) lies on the x axis, (inf, inf) on the diagonal."""
    x, y = x.wide(), y.wide()
    a, b = abs(y), abs(x)
    both_infinite = a.equals(math.inf) & b.equals(math.inf)
    both_zero = a.equals(0.0) & b.equals(0.0)
    a = both_infinite.choose(1.0, a)
    b = (both_infinite | both_zero).choose(1.0, b)
    return _angle(a, b.with_sign_of(x)).with_sign_of(y)


def atan(x: Real) -> Real:
    x = x.wide()
    return _angle(abs(x), x.like(1.0)).with_sign_of(x)


def _cathetus(x: Real) -> Real:
    """sqrt(1 - x**2), NaN beyond 1; both factors are exact, or their product is 1 - 2**-58."""
    return ((1.0 - x) * (x + 1.0)).sqrt()


def asin(x: Real) -> Real:
    x = x.wide()
    return _angle(abs(x), _cathetus(x)).with_sign_of(x)


def acos(x: Real) -> Real:
    x = x.wide()
    return _angle(_cathetus(x), x)
