"""Products of f8 matrices with scales of each layout, as the `fp8` dialect has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

E4M3 = "f8E4M3FN"
STD = 64.0
"""Of the codes, whose largest is 448."""
LAYOUTS = ("tensor", "row", "block")


@dataclass(frozen=True)
class ProductCase:
    """`[rows, depth]` by the transpose of `[columns, depth]`."""

    rows: int
    columns: int
    depth: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}x{self.depth}"

    @property
    def work(self) -> float:
        return 2.0 * self.rows * self.columns * self.depth

    def scale_shapes(self, layout: str) -> tuple[list[int], list[int]]:
        """Of the left and right scales: one, one a row, or one for 1x128 and for 128x128."""
        if layout == "tensor":
            return [], []
        if layout == "row":
            return [self.rows, 1], [self.columns, 1]
        blocks = self.depth // 128
        return [self.rows, blocks], [self.columns // 128, blocks]

    def arguments(self, layout: str, *, quantized: bool) -> list[Mapping[str, Any]]:
        shapes = ([self.rows, self.depth], [self.columns, self.depth])
        codes = [
            {"shape": shape, "dtype": "f8e4m3fn", "kind": "codes", "std": STD} for shape in shapes
        ]
        scales = [
            {"shape": shape, "dtype": "f32", "kind": "uniform", "low": 0.5 / STD, "high": 1.5 / STD}
            for shape in self.scale_shapes(layout)
        ]
        result = {"shape": [], "dtype": "f32", "kind": "value", "value": self.depth**0.5 / STD}
        return [*codes, *scales, *([result] if quantized else [])]

    def text(self, layout: str, *, quantized: bool) -> str:
        """The module: the sum scaled, or operands dequantized in f32 where it is quantized again.

        Scales of blocks dequantize to bf16, as a program must that XLA runs at all.
        """
        shapes = [f"{self.rows}x{self.depth}", f"{self.columns}x{self.depth}"]
        types = [f"tensor<{each}x{E4M3}>" for each in shapes]
        for shape in self.scale_shapes(layout):
            types.append(f"tensor<{'x'.join([*map(str, shape), 'f32'])}>")
        types += ["tensor<f32>"] if quantized else []
        names = [f"%{index}" for index in range(len(types))]
        result = f"tensor<{self.rows}x{self.columns}x{E4M3 if quantized else 'bf16'}>"
        flags = ", ".join(self._flags(layout, quantized=quantized))
        arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
        return (
            f"func.func @main({arguments}) -> {result} {{\n"
            f'  %y = "fp8.scaled_dot"({", ".join(names)}) {{{flags}}} : '
            f"({', '.join(types)}) -> {result}\n  return %y : {result}\n}}\n"
        )

    @staticmethod
    def _flags(layout: str, *, quantized: bool) -> Iterator[str]:
        numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"
        yield f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"
        yield "fast_accum"
        yield f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, {int(quantized)}>"
        if quantized:
            yield "operand_type = f32"
            yield "saturate"
        elif layout == "block":
            yield "operand_type = bf16"


def wide_text(case: ProductCase) -> str:
    """The same product of bf16 matrices."""
    a, b = f"tensor<{case.rows}x{case.depth}xbf16>", f"tensor<{case.columns}x{case.depth}xbf16>"
    result = f"tensor<{case.rows}x{case.columns}xbf16>"
    return (
        f"func.func @main(%a: {a}, %b: {b}) -> {result} {{\n"
        f"  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({a}, {b}) -> "
        f"{result}\n  return %y : {result}\n}}\n"
    )
