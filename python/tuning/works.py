"""What is timed: products of given sizes, formats and epilogues, as modules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_fp8.tuning.pieces import STD, Operand, specs_of, text_of, type_of

_WIDE = ("f32", "bf16", "f16")
_BLOCKS = {"": (), "1x128": ((1, 128), (128, 128)), "mx": ((1, 32), (1, 32))}
"""By `blocks`: rows of A and K that share a scale, columns of B and K."""


@dataclass(frozen=True)
class Work:
    """D[m, n] of A[m, k] and of B[n, k], or of B[k, n] without `k_major`.

    A of an f8 makes an `fp8.scaled_dot`; A of f16, bf16 or f32 a weight-only product. Scales are
    "", "tensor", or "row" of A and "column" of B; `blocks` gives both scales in blocks: "1x128" of
    A with 128x128 of B, "mx" of 32 elements each. Of several `batches` each has matrices of its
    own. `turned`: a D of an f8 comes with its transpose. `copies` products with operands of their
    own are in one module, so that a call takes longer than it takes to issue.
    """

    m: int
    n: int
    k: int
    a_type: str = "f8E4M3FN"
    b_type: str = "f8E4M3FN"
    k_major: bool = True
    a_scale: str = "tensor"
    b_scale: str = "tensor"
    result: str = "bf16"
    bias: str = ""
    activation: str = "none"
    amax: bool = False
    quantized: bool = False
    fast_accum: bool = True
    copies: int = 1
    batches: int = 1
    c: str = ""
    blocks: str = ""
    turned: bool = False
    operand_type: str = "f32"
    """Of operands that have scales of blocks."""

    @property
    def is_weight_only(self) -> bool:
        return self.a_type in _WIDE

    def __str__(self) -> str:
        flags = {
            "exact": not self.fast_accum,
            "kn": not self.k_major,
            self.activation: self.activation != "none",
            "bias": bool(self.bias),
            "amax": self.amax,
            f"to {self.result}": self.result != "bf16",
            "rows": self.a_scale == "row",
            "columns": self.b_scale == "column",
            f"{self.batches} batches": self.batches > 1,
            "c": bool(self.c),
            f"blocks {self.blocks}": bool(self.blocks),
            "turned": self.turned,
        }
        words = [f"{self.m}x{self.n}x{self.k}", f"{self.a_type} {self.b_type}"]
        return " ".join([*words, *(word for word, holds in flags.items() if holds)])

    def operands(self) -> list[Operand]:
        """Of one product, in order."""
        first = [self.batches] if self.batches > 1 else []
        a = ([*first, self.m, self.k], self.a_type, "normal" if self.is_weight_only else "codes")
        b = ([*first, *self._of_b(self.n, self.k)], self.b_type, "codes")
        found: list[Operand] = [a, b]
        sizes = {
            "row": [*first, self.m, 1],
            "column": [*first, *self._of_b(self.n, 1)],
        }
        for kind in () if self.blocks else (self.a_scale, self.b_scale):
            if kind:
                found.append((sizes.get(kind, []), "f32", "scale"))
        for side, (rows, k) in enumerate(_BLOCKS[self.blocks]):
            count = -(-(self.m, self.n)[side] // rows), -(-self.k // k)
            element = "f8E8M0FNU" if self.blocks == "mx" else "f32"
            found.append((list(count) if side == 0 else self._of_b(*count), element, "scale"))
        if self.c:
            found.append(([*first, self.m, self.n], self.c, "normal"))
        if self.bias:
            found.append(([self.n], self.bias, "normal"))
        if self.quantized:
            found.append(([], "f32", "scale"))
        return found

    def _of_b(self, columns: int, k: int) -> list[int]:
        return [columns, k] if self.k_major else [k, columns]

    def results(self) -> list[str]:
        sizes = [self.m, self.n]
        d = type_of([*([self.batches] if self.batches > 1 else []), *sizes], self.result)
        turned = [type_of(sizes[::-1], self.result)] * self.turned
        return [d, *["tensor<f32>"] * self.amax, *turned]

    def text(self) -> str:
        """The module."""
        return text_of([self] * self.copies)

    def arguments(self) -> list[dict[str, Any]]:
        """As the script on the card makes them, for all copies."""
        made = specs_of(self.operands())
        if self.quantized:
            made[-1]["value"] = self.k**0.5 / STD  # so that few results saturate
        return made * self.copies

    def lines(self, copy: int, names: Sequence[str]) -> tuple[Iterator[str], list[str]]:
        """The ops of one product, and its results."""
        write = self._weight_only if self.is_weight_only else self._scaled
        given = [f"%y{copy}"]
        if self.amax:
            given = [f"%y{copy}#0", f"%y{copy}#1"]
        turned = [f"%t{copy}"] * self.turned
        return write(copy, names), [*given, *turned]

    def _kinds(self) -> list[str]:
        return [type_of(shape, element) for shape, element, _ in self.operands()]

    def _contracted(self) -> tuple[int, int]:
        first = int(self.batches > 1)
        return 1 + first, first + int(self.k_major)

    def _scaled(self, copy: int, names: Sequence[str]) -> Iterator[str]:
        left, right = self._contracted()
        scales = (True, True) if self.blocks else (bool(self.a_scale), bool(self.b_scale))
        given = (True, True, *scales, self.c, self.bias, self.quantized)
        present = ", ".join(str(int(bool(each))) for each in given)
        numbers = f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}]"
        if self.batches > 1:
            numbers = f"lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], {numbers}"
        flags = [
            f"dot_dimension_numbers = #stablehlo.dot<{numbers}>",
            f"operandSegmentSizes = array<i32: {present}>",
        ]
        if self.activation != "none":
            flags.append(f'activation = "{self.activation}"')
        if self.blocks:
            flags.append(f"operand_type = {self.operand_type}")
        saturate = self.result.startswith("f8")
        words = {"amax": self.amax, "fast_accum": self.fast_accum, "saturate": saturate}
        flags += [word for word, holds in words.items() if holds]
        results = self.results()[: 1 + self.amax]
        count = f":{len(results)}" if self.amax else ""
        yield (
            f'%y{copy}{count} = "fp8.scaled_dot"({", ".join(names)}) {{{", ".join(flags)}}} : '
            f"({', '.join(self._kinds())}) -> ({', '.join(results)})"
        )
        if self.turned:
            d, turned = results[0], self.results()[-1]
            y = f"%y{copy}#0" if self.amax else f"%y{copy}"
            yield f"%t{copy} = stablehlo.transpose {y}, dims = [1, 0] : ({d}) -> {turned}"

    def _weight_only(self, copy: int, names: Sequence[str]) -> Iterator[str]:
        a, b, scale = names
        kinds = self._kinds()
        left, right = self._contracted()
        wide_b = type_of(self.operands()[1][0], self.a_type)
        sum_, spread = (type_of([self.m, self.n], "f32") for _ in range(2))
        yield f"%w{copy} = stablehlo.convert {b} : ({kinds[1]}) -> {wide_b}"
        yield (
            f"%s{copy} = stablehlo.dot_general {a}, %w{copy}, contracting_dims = [{left}] x "
            f"[{right}] : ({kinds[0]}, {wide_b}) -> {sum_}"
        )
        yield f"%b{copy} = stablehlo.broadcast_in_dim {scale}, dims = [] : ({kinds[2]}) -> {spread}"
        yield f"%p{copy} = stablehlo.multiply %s{copy}, %b{copy} : {sum_}"
        yield f"%y{copy} = stablehlo.convert %p{copy} : ({sum_}) -> {self.results()[0]}"
