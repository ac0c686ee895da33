"""Make the polynomials of `math-expand-in-f64` anew, and compare them with those in the passes.

    python test/exhaustive/polynomials.py

Each interpolates its function at Chebyshev nodes, in 200 bits. The error is that of the rounded
coefficients, relative to the function that is interpolated. Wants mpmath.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mlir_fp8.lowering.real_functions import (
    arcs,
    errors,
    exponentials,
    logarithms,
    of_bf16,
    trigonometry,
)

# Not by statement: its functions have no types.
mp: Any = import_module("mpmath").mp
mp.prec = 200


@dataclass(frozen=True)
class Polynomial:
    """A function of one number and the interval that its polynomial is for."""

    name: str
    table: tuple[float, ...]
    function: Callable[[Any], Any]
    interval: tuple[Any, Any]

    def interpolated(self) -> tuple[float, ...]:
        """The coefficients, the constant one first."""
        count = len(self.table)
        low, high = self.interval
        middle, radius = (low + high) / 2, (high - low) / 2
        nodes = [middle + radius * mp.cos(mp.pi * (i + 0.5) / count) for i in range(count)]
        powers = mp.matrix(count, count)
        for row, node in enumerate(nodes):
            for column in range(count):
                powers[row, column] = node**column
        solution = mp.lu_solve(powers, mp.matrix([self.function(node) for node in nodes]))
        return tuple(float(coefficient) for coefficient in solution)

    def error(self) -> Any:
        low, high = self.interval
        points = [low + (high - low) * (i + mp.mpf("0.5")) / 1000 for i in range(1000)]
        coefficients = [mp.mpf(c) for c in reversed(self.table)]
        wanted = [self.function(x) for x in points]
        got = [mp.polyval(coefficients, x) for x in points]
        return max(abs(g / w - 1) for g, w in zip(got, wanted, strict=True))


def _exp2(f: Any) -> Any:
    """Also at 0, which is a node where their number is odd."""
    return mp.expm1(f * mp.log(2)) / f if abs(f) > 1e-20 else mp.log(2)


def _log(w: Any) -> Any:
    s = mp.sqrt(w)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / (s * w)


def _erfc(t: Any) -> Any:
    x = errors.CENTRE * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x) * (x + errors.CENTRE)


def _of_square(function: Callable[[Any], Any], divisor: int) -> Callable[[Any], Any]:
    """(function(x) / x**(divisor - 2) - 1) / x**2, in terms of x**2."""
    return lambda w: (function(mp.sqrt(w)) / mp.sqrt(w) ** (divisor - 2) - 1) / w


def _centred(x: float) -> Any:
    return (mp.mpf(x) - errors.CENTRE) / (mp.mpf(x) + errors.CENTRE)


_HALF = mp.mpf("0.5005")
POLYNOMIALS = (
    Polynomial("exp2", exponentials.EXP2, _exp2, (-_HALF, _HALF)),
    Polynomial("fine", exponentials.EXP2_FINE, _exp2, (-_HALF, _HALF)),
    Polynomial("bf16", of_bf16.EXP2, _exp2, (-_HALF, _HALF)),
    Polynomial("log", logarithms.LOG, _log, (mp.mpf(0), ((mp.sqrt(2) - 1) ** 2) ** 2 * 1.001)),
    Polynomial("sin", trigonometry.SIN, _of_square(mp.sin, 3), (mp.mpf(0), mp.pi**2 / 16 * 1.0001)),
    Polynomial("cos", trigonometry.COS, _of_square(mp.cos, 2), (mp.mpf(0), mp.pi**2 / 16 * 1.0001)),
    Polynomial(
        "atan", arcs.ATAN, _of_square(mp.atan, 3), (mp.mpf(0), (mp.sqrt(2) - 1) ** 2 * 1.001)
    ),
    Polynomial(
        "erf",
        errors.ERF,
        lambda w: mp.erf(mp.sqrt(w)) / mp.sqrt(w),
        (mp.mpf(0), mp.mpf(1)),
    ),
    Polynomial("erfc", errors.ERFC, _erfc, (_centred(1), _centred(errors.END))),
)


def main() -> int:
    differs = False
    for polynomial in POLYNOMIALS:
        again = polynomial.interpolated()
        same = max(abs(a / b - 1) for a, b in zip(again, polynomial.table, strict=True)) < 1e-6
        differs |= not same
        error = float(mp.log(polynomial.error(), 2))
        outcome = "as in the pass" if same else f"differs: {again}"
        print(f"{polynomial.name:5} degree {len(again) - 1:2}, error 2**{error:.1f}, {outcome}")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
