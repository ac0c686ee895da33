"""tanh and erf on f32 numbers, in f64, to within 2**-43 of the result.

An odd function that ends at 1 is x P(x**2) / Q(x**2), with far fewer operations than an exponential
takes. `test/exhaustive/rationals.py` makes the coefficients.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.real_functions.real import Real


@dataclass(frozen=True)
class Rational:
    """x P(x**2) / Q(x**2) for |x| <= `end`, from where on the function rounds to 1."""

    end: float
    upper: tuple[float, ...]
    lower: tuple[float, ...]

    def within(self, x: Real) -> Real:
        return x.clamp(-self.end, self.end)

    def __call__(self, x: Real) -> Real:
        w = x * x
        return x * w.polynomial(self.upper) / w.polynomial(self.lower)


TANH = Rational(
    9.02,
    (
        0.9999999999999675,
        0.14554465523217747,
        0.0050582283141722365,
        6.115614860683672e-05,
        2.7194086278952676e-07,
        3.712753746628031e-10,
        6.90328939908253e-14,
    ),
    (
        1.0,
        0.4788779885650656,
        0.03135089117019235,
        0.0006293086972951508,
        4.643055033482253e-06,
        1.1935281783733096e-08,
        7.32397928968953e-12,
    ),
)
ERF = Rational(
    3.925,
    (
        1.1283791670954846,
        0.3473488202859075,
        0.08437879310521804,
        0.012764582513901956,
        0.0012013581926598154,
        9.91235154390389e-05,
        4.3765199705080476e-06,
        1.7447140439490408e-07,
        1.297454470146484e-09,
        -2.6419649799775127e-12,
    ),
    (
        1.0,
        0.6411632103930375,
        0.18849982854237307,
        0.03383879554611236,
        0.004130453048484083,
        0.0003581022694258971,
        2.209456202397452e-05,
        9.219376922485706e-07,
        2.1675364510473175e-08,
    ),
)


def tanh(x: Real) -> Real:
    return TANH(TANH.within(x).wide())


def erf(x: Real) -> Real:
    return ERF(ERF.within(x).wide())
