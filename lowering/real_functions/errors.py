"""erfc on f32 numbers, in f64, to within 2**-43 of the result.

Up to 1, it is 1 - x P(x**2). From there on erfc(x) = e**(-x**2) Q(t) / (x + 2.5) with
t = (x - 2.5) / (x + 2.5), on which it is nearly straight (Shepherd and Laframboise, "Chebyshev
approximation of (1 + 2x) exp(x**2) erfc(x)", 1981). The coefficients of P and Q interpolate at
Chebyshev nodes (`test/exhaustive/polynomials.py`).
"""

from mlir_fp8.lowering.real_functions.exponentials import exp
from mlir_fp8.lowering.real_functions.real import Real

CENTRE = 2.5
END = 10.6
"""Beyond it erfc is below half of the smallest subnormal of f32."""
ERF = (
    1.128379167095494,
    -0.37612638902808615,
    0.11283791658548713,
    -0.026866169050599326,
    0.0052239671935439,
    -0.0008547933736519633,
    0.00012046261269779797,
    -1.4795031400662045e-05,
    1.5306373163641084e-06,
    -1.0469110332151208e-07,
)
ERFC = (
    1.0540318203057668,
    -0.8046518494380269,
    0.4539141166283413,
    -0.1712511453276034,
    0.02836155141708508,
    0.00839304517767648,
    -0.004818815595332523,
    -0.00043918784858354226,
    0.0007030033357441487,
    5.786030886445893e-05,
    -0.0001139897887927428,
    -1.659972782055141e-05,
    1.9998739898865803e-05,
)


def _tail(a: Real) -> Real:
    """erfc(a) for a >= 1."""
    a = a.clamp(1.0, END)
    denominator = a + CENTRE
    t = (a - CENTRE) / denominator
    return exp(-(a * a)) * t.polynomial(ERFC) / denominator


def _central(x: Real) -> Real:
    """erf(x) for |x| <= 1."""
    return x * (x * x).polynomial(ERF)


def erfc(x: Real) -> Real:
    x = x.wide()
    a = abs(x)
    tail = _tail(a)
    tail = (x < 0.0).choose(2.0 - tail, tail)
    return (a < 1.0).choose(1.0 - _central(x), tail)
