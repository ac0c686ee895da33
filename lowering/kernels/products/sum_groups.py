"""Blocked summation of long reductions: each group of blocks has its own accumulators, which are
added to the result at its end.

With n blocks in groups of sqrt(n), an element goes through at most 2 sqrt(n) additions beyond those
of its block: for k = 10^7, 512 + 140 + 140 roundings instead of 512 + 19,532.
"""

import math

from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

_MOST_BLOCKS = 32
"""Blocks that one accumulator takes: a sixteenth of the roundings of a block of 512."""


def group_size(blocks: int) -> int:
    """Blocks per group; all where there are few."""
    return blocks if blocks <= _MOST_BLOCKS else math.isqrt(blocks - 1) + 1


class GroupSums:
    """The accumulator buffer of one group of the product whose function `parts` emits."""

    def __init__(self, parts: ProductParts, rows: int, columns: int) -> None:
        self.parts, self.stride = parts, -(-columns // 16) * 16
        self.size = rows * self.stride

    def new(self) -> str:
        """A new f32 buffer."""
        return self.parts.numbers(self.size)

    def place(self, row: str, column: str) -> str:
        text = self.parts.text
        return text.add(text.mul(row, self.stride), column)

    def add(
        self,
        source: tuple[str, str],
        to: tuple[str, str],
        strides: tuple[int, int],
        sizes: tuple[str, str],
        accumulates: str,
    ) -> None:
        """Add `sizes` (rows, columns) accumulators to another buffer of `strides`.

        `source` and `to` are buffers and offsets. Where the index `accumulates` is zero, they are
        stored instead of added.
        """
        parts, text = self.parts, self.parts.text
        steps = (self.stride, 1), strides
        add_sums(text, parts.functions, (source, to), steps, sizes, accumulates)


def add_sums(
    text: KernelText,
    functions: KernelFunctions,
    places: tuple[tuple[str, str], tuple[str, str]],
    strides: tuple[tuple[int, int], tuple[int, int]],
    sizes: tuple[str, str],
    accumulates: str,
) -> None:
    """Add one buffer to another; `places` are buffers and offsets, `strides` those of rows and
    columns."""
    name = functions.name_of("add_sums", _adding_text("NAME"))
    buffers = [(buffer, "memref<1xf32>") for buffer, _ in places]
    numbers = [*sizes, accumulates]
    for (_, place), pair in reversed(list(zip(places, strides, strict=True))):
        numbers = [place, *map(text.index, pair), *numbers]
    text.call(name, [*buffers, *((each, "index") for each in numbers)])


def _adding_text(name: str) -> str:
    """The function: two buffers that do not alias, their offsets and strides, and sizes."""
    text = KernelText()
    zero, one = text.index(0), text.index(1)
    for side in "ac":
        text.line(f"%{side}_view = memref.cast %{side} : memref<1xf32> to memref<?xf32>")
    adds = text.value(f"arith.cmpi ne, %accumulates, {zero} : index")
    with text.loop(zero, "%rows", one) as row:
        source = text.add("%a_offset", text.mul(row, "%a_row"))
        to = text.add("%c_offset", text.mul(row, "%c_row"))
        with text.loop(zero, "%columns", one) as column:
            place = text.add(to, text.mul(column, "%c_column"))
            part = text.add(source, text.mul(column, "%a_column"))
            part = text.value(f"memref.load %a_view[{part}] : memref<?xf32>")
            before = text.value(f"memref.load %c_view[{place}] : memref<?xf32>")
            total = text.value(f"arith.addf {before}, {part} : f32")
            total = text.value(f"arith.select {adds}, {total}, {part} : f32")
            text.line(f"memref.store {total}, %c_view[{place}] : memref<?xf32>")
    parameters = [(f"%{side}", "memref<1xf32> {llvm.noalias}") for side in "ac"]
    names = [f"{side}_{each}" for side in "ac" for each in ("offset", "row", "column")]
    names += ["rows", "columns", "accumulates"]
    return text.function(name, [*parameters, *((f"%{each}", "index") for each in names)])
