"""What results must be."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.cases import Check, WrongValueError

LOOSE = 0.5
"""Of relative L2: what is no better than nothing is 1."""


def identical(want: np.ndarray) -> Check:
    """To the bit, type and shape aside."""

    def check(got: np.ndarray) -> Mapping[str, float]:
        if not np.array_equal(_bytes(got), _bytes(want)):
            raise WrongValueError("not to the bit")
        return {}

    return check


def near(want: Sequence[np.ndarray], tolerance: float, *, is_strict: bool = True) -> Check:
    """By relative L2; integers and booleans must be equal.

    One that is not strict, say rounds sums in bf16, may be off by `LOOSE`; its error is noted.
    """
    most = tolerance if is_strict else LOOSE

    def check(got: Sequence[np.ndarray]) -> Mapping[str, float]:
        if len(got) != len(want):
            raise WrongValueError(f"{len(got)} results, not {len(want)}")
        errors = [distance(*pair) for pair in zip(got, want, strict=True)]
        for index, error in enumerate(errors):
            if not error <= most:
                raise WrongValueError(f"result {index} is off by {error:.2e}, over {most:.0e}")
        return {"off by": max(errors)} if max(errors) > tolerance else {}

    return check


class Agreement:
    """Results that must be near those that are checked first."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._first: list[np.ndarray] = []

    def check(self, *, is_strict: bool = True) -> Check:
        """As that of `near`."""

        def check(got: Sequence[np.ndarray]) -> Mapping[str, float]:
            if not self._first:
                self._first = [np.array(each) for each in got]
            return near(self._first, self._tolerance, is_strict=is_strict)(got)

        return check


def distance(got: np.ndarray, want: np.ndarray) -> float:
    """Relative L2, of integers 0 or infinity."""
    if want.dtype.kind in "iub":
        return 0.0 if np.array_equal(got, want) else float("inf")
    exact = want.astype(np.float64)
    error = np.linalg.norm(got.astype(np.float64) - exact)
    return float(error / max(float(np.linalg.norm(exact)), 1e-30))


def _bytes(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
