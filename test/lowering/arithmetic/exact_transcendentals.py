"""The functions of one number that StableHLO and CHLO have, exactly, by mpmath."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

# Not by statement: its functions have no types.
mp: Any = import_module("mpmath").mp
mp.prec = 200

_LARGEST = 300
"""No format here reaches from 2**-300 to 2**300; what lies beyond counts as one of the two."""


@dataclass(frozen=True)
class Function:
    """A function of numbers, and what it is where that does not say it."""

    exact: Callable[[Any], Any]
    limits: tuple[float, float]
    """At minus infinity and at infinity."""
    zero: float = 0.0
    """At 0."""
    keeps_zero: bool = False
    """Whether the result at -0 has the other sign."""
    at_one: float | None = None
    """At 1, and with the other sign at -1, where the formula has a pole there."""
    at_poles: float | None = None
    """At negative integers, where the formula has poles there."""

    def __call__(self, x: float) -> Fraction | float:
        """The result at `x`: a Fraction where it is a number, but for negative zero."""
        if math.isnan(x):
            return x
        if math.isinf(x):
            return self.limits[x > 0]
        if x == 0:
            return math.copysign(self.zero, x) if self.keeps_zero else self.zero
        if self.at_one is not None and abs(x) == 1:
            return math.copysign(self.at_one, x)
        if self.at_poles is not None and x < 0 and x == math.floor(x):
            return self.at_poles
        try:
            value = self.exact(mp.mpf(x))
        except ValueError:  # outside of the domain
            return math.nan
        return math.nan if isinstance(value, mp.mpc) else _fraction(value)


def _fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    size = max(-_LARGEST, min(int(mp.mag(value)), _LARGEST)) if value else 0
    magnitude = Fraction(2) ** size
    if abs(size) < _LARGEST:
        magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _odd(function: Callable[[Any], Any], limit: float, at_one: float | None = None) -> Function:
    return Function(function, (-limit, limit), 0.0, True, at_one)


def _even_beyond(far: float, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`function`, but its limit 1 or -1 from `far` on, where mpmath would take long."""
    return lambda x: function(x) if abs(x) < far else mp.sign(x)


def _cbrt(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def _erfc(x: Any) -> Any:
    return mp.erfc(x) if abs(x) < 100 else 1 - mp.sign(x) + mp.mpf(2) ** -1000


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x))


def _bessel_i1e(x: Any) -> Any:
    if abs(x) < 1000:
        return mp.besseli(1, x) * mp.exp(-abs(x))
    # The first terms of its asymptotic series: the next one is below 2**-27.
    tail = 1 - 3 / (8 * abs(x)) - 15 / (128 * x**2)
    return mp.sign(x) * tail / mp.sqrt(2 * mp.pi * abs(x))


_INF, _NAN, _HALF_PI = math.inf, math.nan, math.pi / 2
FUNCTIONS = {
    "stablehlo.cbrt": _odd(_cbrt, _INF),
    "stablehlo.cosine": Function(mp.cos, (_NAN, _NAN), 1.0),
    "stablehlo.exponential": Function(mp.exp, (0.0, _INF), 1.0),
    "stablehlo.exponential_minus_one": Function(mp.expm1, (-1.0, _INF), 0.0, True),
    "stablehlo.log": Function(mp.log, (_NAN, _INF), -_INF),
    "stablehlo.log_plus_one": Function(
        lambda x: mp.log1p(x) if x != -1 else -(mp.mpf(2) ** 1000), (_NAN, _INF), 0.0, True
    ),
    "stablehlo.logistic": Function(lambda x: 1 / (1 + mp.exp(-x)), (0.0, 1.0), 0.5),
    "stablehlo.rsqrt": Function(lambda x: 1 / mp.sqrt(x), (_NAN, 0.0), _INF, True),
    "stablehlo.sine": _odd(mp.sin, _NAN),
    "stablehlo.sqrt": Function(mp.sqrt, (_NAN, _INF), 0.0, True),
    "stablehlo.tan": _odd(mp.tan, _NAN),
    "stablehlo.tanh": _odd(_even_beyond(100, mp.tanh), 1.0),
    "chlo.acos": Function(mp.acos, (_NAN, _NAN), _HALF_PI),
    "chlo.acosh": Function(mp.acosh, (_NAN, _INF), _NAN),
    "chlo.asin": _odd(mp.asin, _NAN),
    "chlo.asinh": _odd(mp.asinh, _INF),
    "chlo.atan": _odd(mp.atan, _HALF_PI),
    "chlo.atanh": _odd(mp.atanh, _NAN, _INF),
    "chlo.bessel_i1e": _odd(_bessel_i1e, 0.0),
    "chlo.cosh": Function(mp.cosh, (_INF, _INF), 1.0),
    "chlo.digamma": Function(mp.digamma, (_NAN, _INF), _NAN, at_poles=_NAN),
    "chlo.erf": _odd(_even_beyond(100, mp.erf), 1.0),
    "chlo.erf_inv": _odd(mp.erfinv, _NAN, _INF),
    "chlo.erfc": Function(_erfc, (2.0, 0.0), 1.0),
    "chlo.lgamma": Function(_lgamma, (_INF, _INF), _INF, at_poles=_INF),
    "chlo.sinh": _odd(mp.sinh, _INF),
    "chlo.tan": _odd(mp.tan, _NAN),
}
"""By the name of the op."""
