"""Products of groups that are timed: forward, and the gradients of rows and of weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_fp8.tuning.pieces import Operand, specs_of, text_of, type_of

_NUMBERS = {
    # Contracted of A and of B, what is ragged of A, groups of B.
    "forward": (1, 1, 0, 0),
    "dx": (1, 2, 0, 0),
    "dw": (0, 0, 0, None),
}


@dataclass(frozen=True)
class GroupedWork:
    """`mode` "forward": D[m, n] of A[m, k] and B[groups, k, n]; "dx": of B[groups, n, k]; "dw":
    D[groups, m, n] of A[k, m] and B[k, n]. `sizes` are those of the groups.

    Scales are "", "tensor", "group", or "row" of A and "column" of B.
    """

    mode: str
    m: int
    n: int
    k: int
    sizes: tuple[int, ...]
    a_type: str = "f8E4M3FN"
    b_type: str = "f8E4M3FN"
    a_scale: str = "tensor"
    b_scale: str = "tensor"
    result: str = "bf16"
    fast_accum: bool = True
    copies: int = 1

    def __str__(self) -> str:
        words = [self.mode, f"{len(self.sizes)} of {self.m}x{self.n}x{self.k}"]
        words += [f"{self.a_type} {self.b_type}", *["exact"] * (not self.fast_accum)]
        return " ".join([*words, self.a_scale, self.b_scale, f"to {self.result}"])

    def operands(self) -> list[Operand]:
        groups, sums = len(self.sizes), self.mode == "dw"
        a = [self.k, self.m] if sums else [self.m, self.k]
        b = {
            "forward": [groups, self.k, self.n],
            "dx": [groups, self.n, self.k],
            "dw": [self.k, self.n],
        }[self.mode]
        found: list[Operand] = [(a, self.a_type, "codes"), (b, self.b_type, "codes")]
        found.append(([groups], "i32", ",".join(map(str, self.sizes))))
        one = {
            "forward": ([self.m, 1], [groups, 1, self.n], [groups, 1, 1]),
            "dx": ([self.m, 1], [groups, self.n, 1], [groups, 1, 1]),
            "dw": ([1, self.m], [1, self.n], [groups]),
        }[self.mode]
        for kind, of_each, of_group in (
            (self.a_scale, one[0], [groups]),
            (self.b_scale, one[1], one[2]),
        ):
            sizes = {"tensor": [], "group": of_group}.get(kind, of_each)
            found += [(sizes, "f32", "scale")] * bool(kind)
        return found

    def results(self) -> list[str]:
        first = [len(self.sizes)] if self.mode == "dw" else []
        return [type_of([*first, self.m, self.n], self.result)]

    def text(self) -> str:
        return text_of([self] * self.copies)

    def arguments(self) -> list[dict[str, Any]]:
        return specs_of(self.operands()) * self.copies

    def lines(self, copy: int, names: Sequence[str]) -> tuple[Iterator[str], list[str]]:
        return self._lines(copy, names), [f"%y{copy}"]

    def _lines(self, copy: int, names: Sequence[str]) -> Iterator[str]:
        left, right, of, groups = _NUMBERS[self.mode]
        numbers = (
            f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}], "
            f"lhs_ragged_dimensions = [{of}]"
        )
        numbers += "" if groups is None else f", rhs_group_dimensions = [{groups}]"
        present = ", ".join(str(int(bool(each))) for each in (self.a_scale, self.b_scale))
        flags = ", fast_accum" if self.fast_accum else ""
        kinds = ", ".join(type_of(shape, element) for shape, element, _ in self.operands())
        yield (
            f'%y{copy} = "fp8.scaled_ragged_dot"({", ".join(names)}) {{ragged_dot_dimension_numbers'
            f" = #chlo.ragged_dot<{numbers}>, operandSegmentSizes = array<i32: 1, 1, 1, {present}>"
            f"{flags}}} : ({kinds}) -> {self.results()[0]}"
        )
