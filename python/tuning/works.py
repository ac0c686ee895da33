"""What is timed: products of given sizes, formats and epilogues, as modules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

STD = 64.0
"""Of codes that are timed: most are normal numbers, few saturate."""
_WIDE = ("f32", "bf16", "f16")


@dataclass(frozen=True)
class Work:
    """D[m, n] of A[m, k] and of B[n, k], or of B[k, n] without `k_major`.

    A of an f8 makes an `fp8.scaled_dot`; A of f16, bf16 or f32 a weight-only product. Scales are
    "", "tensor", or "row" of A and "column" of B. `copies` products with operands of their own are
    in one module, so that a call takes longer than it takes to issue.
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
        }
        words = [f"{self.m}x{self.n}x{self.k}", f"{self.a_type} {self.b_type}"]
        return " ".join([*words, *(word for word, holds in flags.items() if holds)])

    def operands(self) -> list[tuple[list[int], str, str]]:
        """Of one product, in order: shape, element type, and what it holds."""
        a = ([self.m, self.k], self.a_type, "normal" if self.is_weight_only else "codes")
        b = ([self.n, self.k] if self.k_major else [self.k, self.n], self.b_type, "codes")
        found = [a, b]
        sizes = {"row": [self.m, 1], "column": [self.n, 1] if self.k_major else [1, self.n]}
        for kind in (self.a_scale, self.b_scale):
            if kind:
                found.append((sizes.get(kind, []), "f32", "scale"))
        if self.bias:
            found.append(([self.n], self.bias, "normal"))
        if self.quantized:
            found.append(([], "f32", "scale"))
        return found

    def text(self) -> str:
        """The module."""
        kinds = [_type(shape, element) for shape, element, _ in self.operands()]
        results = [_type([self.m, self.n], self.result), *["tensor<f32>"] * self.amax]
        taken: list[str] = []
        body: list[str] = []
        given: list[str] = []
        for copy in range(self.copies):
            names = [f"%x{copy}_{i}" for i in range(len(kinds))]
            taken += [f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True)]
            write = self._weight_only if self.is_weight_only else self._scaled
            body += write(copy, names, kinds, results)
            given += [f"%y{copy}#{i}" for i in range(len(results))] if self.amax else [f"%y{copy}"]
        listed = ", ".join(results * self.copies)
        return (
            f"func.func @main({', '.join(taken)}) -> ({listed}) {{\n"
            + "".join(f"  {line}\n" for line in body)
            + f"  return {', '.join(given)} : {listed}\n}}\n"
        )

    def _contracted(self) -> tuple[int, int]:
        return 1, 1 if self.k_major else 0

    def _scaled(
        self, copy: int, names: Sequence[str], kinds: Sequence[str], results: Sequence[str]
    ) -> Iterator[str]:
        left, right = self._contracted()
        given = (True, True, self.a_scale, self.b_scale, False, self.bias, self.quantized)
        present = ", ".join(str(int(bool(each))) for each in given)
        numbers = f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}]"
        flags = [
            f"dot_dimension_numbers = #stablehlo.dot<{numbers}>",
            f"operandSegmentSizes = array<i32: {present}>",
        ]
        if self.activation != "none":
            flags.append(f'activation = "{self.activation}"')
        saturate = self.result.startswith("f8")
        words = {"amax": self.amax, "fast_accum": self.fast_accum, "saturate": saturate}
        flags += [word for word, holds in words.items() if holds]
        count = f":{len(results)}" if self.amax else ""
        yield (
            f'%y{copy}{count} = "fp8.scaled_dot"({", ".join(names)}) {{{", ".join(flags)}}} : '
            f"({', '.join(kinds)}) -> ({', '.join(results)})"
        )

    def _weight_only(
        self, copy: int, names: Sequence[str], kinds: Sequence[str], results: Sequence[str]
    ) -> Iterator[str]:
        a, b, scale = names
        left, right = self._contracted()
        wide_b = _type(self.operands()[1][0], self.a_type)
        sum_, spread = (_type([self.m, self.n], "f32") for _ in range(2))
        yield f"%w{copy} = stablehlo.convert {b} : ({kinds[1]}) -> {wide_b}"
        yield (
            f"%s{copy} = stablehlo.dot_general {a}, %w{copy}, contracting_dims = [{left}] x "
            f"[{right}] : ({kinds[0]}, {wide_b}) -> {sum_}"
        )
        yield f"%b{copy} = stablehlo.broadcast_in_dim {scale}, dims = [] : ({kinds[2]}) -> {spread}"
        yield f"%p{copy} = stablehlo.multiply %s{copy}, %b{copy} : {sum_}"
        yield f"%y{copy} = stablehlo.convert %p{copy} : ({sum_}) -> {results[0]}"

    def arguments(self) -> list[dict[str, Any]]:
        """As the script on the card makes them, for all copies."""
        made: list[dict[str, Any]] = []
        for shape, element, holds in self.operands():
            spec: dict[str, Any] = {"shape": shape, "dtype": element.lower(), "kind": holds}
            if holds == "scale":
                spec |= {"kind": "value", "value": 1 / STD}
            else:
                spec |= {"std": STD if holds == "codes" else 1.0}
            made.append(spec)
        if self.quantized:
            made[-1]["value"] = self.k**0.5 / STD  # so that few results saturate
        return made * self.copies


def _type(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"
