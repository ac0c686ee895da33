"""Long sums of products in groups of blocks: each group has results of its own, which are added to
those of all at its end.

With n blocks and groups of the square root of n no number is added up more than twice that often,
whatever is summed in a block: 512 + 140 + 140 roundings in place of 10^7, or 512 + 19,532.
"""

import math

from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

_MOST_BLOCKS = 32
"""That are added one after the other: at most a sixteenth of what a block of 512 rounds."""


def group_size(blocks: int) -> int:
    """How many blocks of a sum make a group; all where they are few."""
    return blocks if blocks <= _MOST_BLOCKS else math.isqrt(blocks - 1) + 1


class GroupSums:
    """The results of one group of a product, whose function `parts` writes, in a buffer."""

    def __init__(self, parts: ProductParts, rows: int, columns: int) -> None:
        self.parts, self.stride = parts, -(-columns // 16) * 16
        self.size = rows * self.stride

    def new(self) -> str:
        """A new buffer, of f32."""
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
        """Results of `sizes` rows and columns to those in another buffer, which has `strides`.

        `source` and `to` are buffers and places in them. Without `accumulates`, an index that is
        zero, they take the place of what is there.
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
    """From a buffer to another, each with a place in it and the strides of rows and columns."""
    name = functions.name_of("add_sums", _adding_text("NAME"))
    buffers = [(buffer, "memref<1xf32>") for buffer, _ in places]
    numbers = [*sizes, accumulates]
    for (_, place), pair in reversed(list(zip(places, strides, strict=True))):
        numbers = [place, *map(text.index, pair), *numbers]
    text.call(name, [*buffers, *((each, "index") for each in numbers)])


def _adding_text(name: str) -> str:
    """The function: two buffers, which do not overlap, where in them, strides, and sizes."""
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
