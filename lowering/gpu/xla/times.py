"""Times of kernels and of XLA, as a card gave them, and the nearest one to a product."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_PRODUCT_FORM = ("tile_m", "tile_n", "stages", "cluster", "group")
FORMS = {
    "product": (*_PRODUCT_FORM, "split"),
    "grouped_product": _PRODUCT_FORM,
    "few_rows": ("tiles", "across", "along", "stages", "steps", "split"),
}
"""What candidates of each kernel differ in."""
_FARTHEST = 3.0
"""Octaves of M, N and K together: beyond these nothing is known."""


@dataclass(frozen=True)
class Timed:
    """A product of m x k by k x n: times in us of the best form of a kernel, and of XLA.

    `kind` says what else decides, as `kind_of_product` and `kind_of_few_rows` spell it; `form` are
    the numbers of the candidate that was fastest.
    """

    kernel: str
    kind: str
    m: int
    n: int
    k: int
    form: tuple[int, ...]
    us: float
    xla: float

    def check(self) -> None:
        """Raise `ValueError` where it is none of a card."""
        names = FORMS.get(self.kernel)
        if names is None:
            raise ValueError(f"times of a kernel {self.kernel!r}, not of {', '.join(FORMS)}")
        if len(self.form) != len(names) or not all(_is_count(each) for each in self.form):
            raise ValueError(
                f"a form {list(self.form)} of {self.kernel}, not {len(names)} numbers from 1 up"
            )
        if not all(_is_count(each) for each in (self.m, self.n, self.k)):
            raise ValueError(f"a {self.kernel} of {self.m}x{self.n}x{self.k}")
        for each in (self.us, self.xla):
            if not is_positive(each):
                raise ValueError(f"a time of {each} us of a {self.kernel}")

    def octaves(self, m: int, n: int, k: int) -> float:
        """How far another size is."""
        pairs = ((self.m, m), (self.n, n), (self.k, k))
        return sum(abs(math.log2(one / other)) for one, other in pairs)

    def scaled(self, m: int, n: int, k: int) -> tuple[float, float]:
        """Both times in proportion to the work."""
        factor = m * n * k / (self.m * self.n * self.k)
        return self.us * factor, self.xla * factor


def is_positive(value: object) -> bool:
    """Whether a number of JSON is above 0 and finite."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return 0 < value <= sys.float_info.max


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def nearest(
    times: Sequence[Timed], kernel: str, kind: str, size: tuple[int, int, int]
) -> Timed | None:
    """The nearest of that kernel and kind, if it is near enough to say anything; sizes above 0."""
    found = [each for each in times if (each.kernel, each.kind) == (kernel, kind)]
    best = min(found, key=lambda each: each.octaves(*size), default=None)
    return best if best and best.octaves(*size) <= _FARTHEST else None


BLOCKS, PARTS = "exact, blocks", "exact, blocks of 32"
"""Kinds of products whose scales change along K, whatever the epilogue: within a tile or not."""
GATE = ", gate"
"""Behind the kind of the two products of a gate, which are one of twice the columns."""


def kind_of_product(*, exact: bool, is_plain: bool) -> str:
    """`is_plain`: scales and a bias at most stand behind the sum, which is rounded once."""
    return ("exact" if exact else "fast") + ("" if is_plain else ", epilogue")


def kind_of_few_rows(*, has_codes: bool, k_major: bool) -> str:
    """By whether the rows are codes too, and by the order of the weights."""
    return ("f8" if has_codes else "wide") + (", [n, k]" if k_major else ", [k, n]")
