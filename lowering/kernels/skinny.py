"""The kernels for a left operand of few rows: the right one is read once, in its own order.

So they run at the speed of memory, in which codes of f8 are a quarter of f32 numbers.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.reader import Reader
from mlir_fp8.lowering.kernels.target import KernelTarget
from mlir_fp8.lowering.kernels.text import KernelText
from mlir_fp8.lowering.kernels.tile import multiply_add

KERNEL_ROWS = 4
"""Rows that one kernel can take."""
MAX_ROWS = 12
"""Rows up to which reading the right operand once for each four is faster than packing it."""
_SIZES = ("a_offset", "a_stride", "c_offset", "c_row", "c_column", "columns", "depth")


@dataclass(frozen=True)
class Skinny:
    """`rows` rows of f32, contiguous along the sum, times the operand that `reader` reads.

    Where the reader's inner dimension is the sum, each result is a dot product; else rows of the
    right operand are added up, multiplied, in results that are contiguous.
    """

    reader: Reader
    rows: int
    sums_inner: bool
    scaled: bool = True
    """Whether the reader's factor is not in the left operand already."""

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the reader's parameters, the left operand, the result, then `_SIZES`."""
        return _Writer(self, target).function(name)


class _Writer:
    def __init__(self, skinny: Skinny, target: KernelTarget) -> None:
        self.skinny, self.target, self.text = skinny, target, KernelText()
        self.lanes = 2 * target.lanes  # of 8-bit codes the shorter ones would be half a vector
        self.vector = f"vector<{self.lanes}xf32>"

    def function(self, name: str) -> str:
        text, zero = self.text, self.text.index(0)
        big = text.index(1 << 40)
        text.line("%a_bytes = memref.cast %a : memref<1xi8> to memref<?xi8>")
        text.line(f"%a_view = memref.view %a_bytes[{zero}][{big}] : memref<?xi8> to memref<?xf32>")
        text.line("%c_view = memref.cast %c : memref<1xf32> to memref<?xf32>")
        self.skinny.reader.begin(text)
        if self.skinny.sums_inner:
            count = self.target.registers // (4 if self.skinny.rows <= 2 else 8)
            last = text.rounded_down("%columns", count)
            with text.loop(zero, last, text.index(count)) as column:
                self._dots(column, count)
            with text.loop(last, "%columns", text.index(1)) as column:
                self._dots(column, 1)
        else:
            self._clear()
            count = 8 if self.skinny.rows == 1 else 4
            last = text.rounded_down("%depth", count)
            with text.loop(zero, last, text.index(count)) as depth:
                self._add_rows(depth, count)
            with text.loop(last, "%depth", text.index(1)) as depth:
                self._add_rows(depth, 1)
        parameters = [("%a", "memref<1xi8>"), ("%c", "memref<1xf32>")]
        parameters += [(f"%{each}", "index") for each in _SIZES]
        return text.function(name, [*self.skinny.reader.parameters(), *parameters])

    def _left(self, row: int, depth: str, lanes: int) -> str:
        text = self.text
        place = text.add(text.mul(text.index(row), "%a_stride"), "%a_offset")
        place = text.add(place, depth)
        return text.value(f"vector.load %a_view[{place}] : memref<?xf32>, vector<{lanes}xf32>")

    def _right(self, outer: str, inner: str, lanes: int) -> str:
        skinny = self.skinny
        return skinny.reader.load(self.text, self.target, outer, inner, lanes, scaled=skinny.scaled)

    def _result(self, row: int, column: str) -> str:
        text = self.text
        place = text.add("%c_offset", text.mul(text.index(row), "%c_row"))
        return text.add(place, text.mul(column, "%c_column"))

    def _dots(self, column: str, count: int) -> None:
        """`count` columns: vectors of partial sums, then what is left of them one by one."""
        text, rows = self.text, range(self.skinny.rows)
        columns = [text.add(column, i) for i in range(count)]
        last = text.rounded_down("%depth", self.lanes)
        totals = [text.zeros(self.lanes)] * (len(rows) * count)
        totals = self._summed(text.index(0), last, self.lanes, columns, totals)
        type_ = f"{self.vector} into f32"
        ones = [text.value(f"vector.reduction <add>, {each} : {type_}") for each in totals]
        ones = [text.value(f"vector.broadcast {each} : f32 to vector<1xf32>") for each in ones]
        ones = self._summed(last, "%depth", 1, columns, ones)
        for number, each in enumerate(ones):
            row, i = divmod(number, count)
            place = self._result(row, columns[i])
            text.line(f"vector.store {each}, %c_view[{place}] : memref<?xf32>, vector<1xf32>")

    def _summed(
        self, low: str, high: str, lanes: int, columns: list[str], starts: list[str]
    ) -> list[str]:
        text, vector = self.text, f"vector<{lanes}xf32>"
        with text.fold(low, high, text.index(lanes), starts, vector) as (depth, sums, results):
            rights = [self._right(column, depth, lanes) for column in columns]
            for row in range(self.skinny.rows):
                left = self._left(row, depth, lanes)
                for i, right in enumerate(rights):
                    number = row * len(columns) + i
                    sums[number] = multiply_add(
                        text, self.target, left, right, sums[number], vector
                    )
        return results

    def _clear(self) -> None:
        text = self.text
        with text.loop(text.index(0), "%columns", text.index(1)) as column:
            for row in range(self.skinny.rows):
                types = "memref<?xf32>, vector<1xf32>"
                place = self._result(row, column)
                text.line(f"vector.store {text.zeros(1)}, %c_view[{place}] : {types}")

    def _add_rows(self, depth: str, count: int) -> None:
        """`count` rows of the right operand to the rows of the result."""
        text = self.text
        depths = [text.add(depth, i) for i in range(count)]
        factors = [[self._left(row, d, 1) for d in depths] for row in range(self.skinny.rows)]
        last = text.rounded_down("%columns", self.lanes)
        for low, high, lanes in (
            (text.index(0), last, self.lanes),
            (last, "%columns", 1),
        ):
            vector = f"vector<{lanes}xf32>"
            wide = [
                [text.value(f"vector.broadcast {each} : vector<1xf32> to {vector}") for each in row]
                for row in factors
            ]
            with text.loop(low, high, text.index(lanes)) as column:
                rights = [self._right(d, column, lanes) for d in depths]
                for row in range(self.skinny.rows):
                    place = self._result(row, column)
                    types = f"memref<?xf32>, {vector}"
                    total = text.value(f"vector.load %c_view[{place}] : {types}")
                    for left, right in zip(wide[row], rights, strict=True):
                        total = multiply_add(text, self.target, left, right, total, vector)
                    text.line(f"vector.store {total}, %c_view[{place}] : {types}")
