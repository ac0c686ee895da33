"""Functions of bf16 numbers whose results round to bf16, in f32, to within 2**-20 of the result.

That is not their rounding's last word, but no bf16 number has a result that near to a tie: all give
what the exact result rounds to (`test_functions_of_bf16.py` goes through them). The coefficients
are made by `test/exhaustive/polynomials.py` and `rationals.py`.
"""

from mlir_fp8.lowering.real_functions.real import Real
from mlir_fp8.lowering.real_functions.sigmoids import Rational

# log2(e) in two parts: for large numbers the second one counts.
_LOG2_E, _REST = 1.4426950216293335, 1.925963033500011e-08
# (2**f - 1) / f for |f| <= 1/2
EXP2 = (
    0.6931471880711763,
    0.24022650760957306,
    0.05550356898627073,
    0.00961808237061666,
    0.0013390978248123866,
    0.00015453262409320672,
)
TANH = Rational(
    3.47,
    (0.9999998984517589, 0.1188854526107953, 0.001812701331249964),
    (1.0, 0.4522175780296276, 0.019220870624782945, 7.763533093542868e-05),
)
ERF = Rational(
    2.2,
    (
        1.1283792062519078,
        0.11255860321794738,
        0.03574530534363884,
        -9.924483230416729e-05,
        1.9304541129297872e-05,
    ),
    (1.0, 0.43308706028110083, 0.07603328230555473, 0.005774645398829079),
)


def exp(x: Real) -> Real:
    """2**k e**f as 2**(k // 2) e**f times the rest, which gives subnormals and infinity."""
    x = x.clamp(-94.0, 89.0)
    k, bits = x.rounded(_LOG2_E)
    fraction = x.times_plus(x.like(_REST), x.times_plus(x.like(_LOG2_E), -k))
    half = bits >> 1
    rest = ((bits - half << 23) + (127 << 23)).as_real()
    power = fraction.times_plus(fraction.polynomial(EXP2), 1.0)
    return (power.bits() + (half << 23)).as_real() * rest


def tanh(x: Real) -> Real:
    return TANH(TANH.within(x))


def erf(x: Real) -> Real:
    return ERF(ERF.within(x))
