"""Make the rational functions of `math-expand-in-f64` anew, and compare their errors with the old.

    python test/exhaustive/rationals.py

Each is the least-squares fit, in 160 bits, of P(w) - f Q(w) over sums of squares of relative
errors, with the last Q as weight (H. L. Loeb's iteration), where large errors gain weight from one
step to the next (C. L. Lawson's), until they are even. Wants mpmath.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mlir_fp8.lowering.real_functions import of_bf16, sigmoids

# Not by statement: its functions have no types.
mp: Any = import_module("mpmath").mp
mp.prec = 160
STEPS = 30


@dataclass(frozen=True)
class Fit:
    """f(x) = x P(x**2) / Q(x**2) up to the end of `table`."""

    name: str
    table: sigmoids.Rational
    function: Callable[[Any], Any]
    most: float
    """The largest error that the pass promises."""

    def _wanted(self, w: Any) -> Any:
        return self.function(mp.sqrt(w)) / mp.sqrt(w)

    def made(self) -> sigmoids.Rational:
        """P and Q of the degrees in the table, by powers of w / end**2, scaled back."""
        counts = len(self.table.upper), len(self.table.lower) - 1
        size, end = 4 * (sum(counts) + 1), mp.mpf(self.table.end)
        nodes = [((1 - mp.cos(mp.pi * (i + mp.mpf("0.5")) / size)) / 2) ** 2 for i in range(size)]
        wanted = [self._wanted(node * end**2) for node in nodes]
        lower, weights = [mp.mpf(1)] * size, [mp.mpf(1)] * size
        p: list[Any] = []
        q: list[Any] = []
        for _ in range(STEPS):
            matrix, right = mp.matrix(size, sum(counts)), mp.matrix(size, 1)
            for i, (node, f) in enumerate(zip(nodes, wanted, strict=True)):
                scale = mp.sqrt(weights[i]) / (f * lower[i])
                row = [node**j for j in range(counts[0])]
                row += [-f * node**j for j in range(1, counts[1] + 1)]
                for j, entry in enumerate(row):
                    matrix[i, j] = scale * entry
                right[i] = scale * f
            solution = list(mp.qr_solve(matrix, right)[0])
            p, q = solution[: counts[0]], [mp.mpf(1), *solution[counts[0] :]]
            lower = [mp.polyval(q[::-1], node) for node in nodes]
            errors = [
                abs(mp.polyval(p[::-1], node) / below / f - 1)
                for node, below, f in zip(nodes, lower, wanted, strict=True)
            ]
            weights = [
                weight * (error / max(errors) + mp.mpf("1e-3"))
                for weight, error in zip(weights, errors, strict=True)
            ]
            weights = [weight / max(weights) for weight in weights]
        return sigmoids.Rational(
            self.table.end,
            tuple(float(c / end ** (2 * i)) for i, c in enumerate(p)),
            tuple(float(c / end ** (2 * i)) for i, c in enumerate(q)),
        )

    def error(self, rational: sigmoids.Rational) -> Any:
        points = [(rational.end * (i + mp.mpf("0.5")) / 2000) ** 2 for i in range(2000)]
        upper, lower = (
            [mp.mpf(c) for c in reversed(table)] for table in (rational.upper, rational.lower)
        )
        return max(
            abs(mp.polyval(upper, w) / mp.polyval(lower, w) / self._wanted(w) - 1) for w in points
        )


FITS = (
    Fit("tanh", sigmoids.TANH, mp.tanh, 2.0**-43),
    Fit("erf", sigmoids.ERF, mp.erf, 2.0**-43),
    Fit("tanh of bf16", of_bf16.TANH, mp.tanh, 2.0**-20),
    Fit("erf of bf16", of_bf16.ERF, mp.erf, 2.0**-20),
)


def main() -> int:
    is_exceeded = False
    for fit in FITS:
        errors = [float(fit.error(each)) for each in (fit.table, fit.made())]
        old, new = (float(mp.log(error, 2)) for error in errors)
        print(f"{fit.name:12} error 2**{old:.1f} in the pass, 2**{new:.1f} made anew")
        is_exceeded |= max(errors) > fit.most
    return int(is_exceeded)


if __name__ == "__main__":
    sys.exit(main())
