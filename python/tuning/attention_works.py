"""Causal attention of f8 q, k and v that is timed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_fp8.tuning.pieces import Operand, specs_of, text_of, type_of

_ATTRIBUTES = (
    "operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>, causal, p_type = f8E4M3FN, "
    "p_saturate, p_scale = 4.48e+02 : f32, p_inverse, p_factor = 2.23214296e-03 : f32"
)


@dataclass(frozen=True)
class AttentionWork:
    """`heads` of `rows` queries, keys and values of `depth` numbers each, f8E4M3FN, with scales."""

    heads: int
    rows: int
    depth: int
    copies: int = 1

    def __str__(self) -> str:
        return f"causal {self.heads} heads of {self.rows}x{self.depth}"

    @property
    def m(self) -> int:
        """Of the scores, as `n` and `k`."""
        return self.rows

    @property
    def n(self) -> int:
        return self.rows

    @property
    def k(self) -> int:
        return self.depth

    @property
    def operations(self) -> int:
        """Of both products, where a query sees a key."""
        pairs = self.rows * (self.rows + 1) // 2
        return 4 * self.heads * pairs * self.depth

    def operands(self) -> list[Operand]:
        x: Operand = ([1, self.heads, self.rows, self.depth], "f8E4M3FN", "codes")
        return [x, x, x, *[([], "f32", "scale")] * 3]

    def results(self) -> list[str]:
        return [type_of([1, self.heads, self.rows, self.depth], "bf16")]

    def text(self) -> str:
        return text_of([self] * self.copies)

    def arguments(self) -> list[dict[str, Any]]:
        return specs_of(self.operands()) * self.copies

    def lines(self, copy: int, names: Sequence[str]) -> tuple[Iterator[str], list[str]]:
        return self._lines(copy, names), [f"%y{copy}"]

    def _lines(self, copy: int, names: Sequence[str]) -> Iterator[str]:
        kinds = ", ".join(type_of(shape, element) for shape, element, _ in self.operands())
        attributes = f"{_ATTRIBUTES}, scale = {self.depth**-0.5:e} : f32"
        yield (
            f'%y{copy} = "fp8.attention"({", ".join(names)}) {{{attributes}}} : '
            f"({kinds}) -> {self.results()[0]}"
        )
