"""The kernels for few rows of bytes: the right operand is read once, as it lies, by all rows.

Sums are i32, which wrap, so that their order is free. The instructions are those of `byte_tile.py`;
where they need sign bits flipped, those of the left operand are before.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.byte_tile import FLIP, ByteTile
from mlir_fp8.lowering.kernels.products.packed_form import UNITS
from mlir_fp8.lowering.kernels.vector_code.code_blocks import sliced
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_SIZES = ("a_offset", "a_stride", "c_offset", "c_row", "c_column", "columns", "depth")
"""Of the left operand in words of 32 bits."""
_SUMS = 8
"""Registers that are added up in, at least: enough to keep the units for them busy."""
_GROUPS = 2
"""Words of a column that are added to a result at once."""
_PIECES = 4
"""Vectors of words along the columns, for each of which a register of bytes is loaded."""
_BYTES_AHEAD = 2048
"""Of a column, from those that are read to those that are prefetched."""


@dataclass(frozen=True)
class SkinnyBytes:
    """`rows` packed rows times the operand of `reader`, whose inner dimension is the sum, or the
    columns, along which results are contiguous too."""

    reader: Reader
    rows: int
    sums_inner: bool
    form: str
    extensions: tuple[str | None, str | None]

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the reader's parameters, the left operand, the result, then `_SIZES`."""
        return _Writer(self, target).function(name)


def flip_text(name: str) -> str:
    """A function that flips the sign bits of bytes: a buffer, and how many words of it."""
    text, view = KernelText(), "memref<?xi32>"
    zero, big = text.index(0), text.index(1 << 40)
    text.line("%bytes = memref.cast %a : memref<1xi8> to memref<?xi8>")
    text.line(f"%view = memref.view %bytes[{zero}][{big}] : memref<?xi8> to {view}")
    with text.loop(zero, "%words", text.index(1)) as i:
        word = text.value(f"memref.load %view[{i}] : {view}")
        word = text.value(f"arith.xori {word}, {text.constant(f'{FLIP} : i32')} : i32")
        text.line(f"memref.store {word}, %view[{i}] : {view}")
    return text.function(name, [("%a", "memref<1xi8>"), ("%words", "index")])


def copy_text(name: str) -> str:
    """A function that copies rows of sums: two buffers, `a_row`, `c_offset`, `c_row` and sizes."""
    text, view = KernelText(), "memref<?xi32>"
    for side in "ac":
        text.line(f"%{side}_view = memref.cast %{side} : memref<1xi32> to {view}")
    with text.loop(text.index(0), "%rows", text.index(1)) as row:
        source, to = text.mul(row, "%a_row"), text.add("%c_offset", text.mul(row, "%c_row"))
        with text.loop(text.index(0), "%columns", text.index(1)) as column:
            word = text.value(f"memref.load %a_view[{text.add(source, column)}] : {view}")
            text.line(f"memref.store {word}, %c_view[{text.add(to, column)}] : {view}")
    parameters = [(f"%{side}", "memref<1xi32> {llvm.noalias}") for side in "ac"]
    sizes = ("a_row", "c_offset", "c_row", "rows", "columns")
    return text.function(name, [*parameters, *((f"%{each}", "index") for each in sizes)])


class _Writer:
    def __init__(self, kernel: SkinnyBytes, target: KernelTarget) -> None:
        self.kernel, self.lanes = kernel, target.lanes
        self.tile = ByteTile(target, kernel.form, kernel.extensions)
        self.text, self.words = self.tile.text, self.tile.vector
        self.unit = UNITS[kernel.form]
        """Elements of a word."""
        self.bits = 32 // self.unit

    def function(self, name: str) -> str:
        text = self.text
        zero, big = text.index(0), text.index(1 << 40)
        text.line("%a_bytes = memref.cast %a : memref<1xi8> to memref<?xi8>")
        types = "memref<?xi8> to memref<?x"
        text.line(f"%a_view = memref.view %a_bytes[{zero}][{big}] : {types}i32>")
        text.line(f"%a_ones = memref.view %a_bytes[{zero}][{big}] : {types}i{self.bits}>")
        text.line("%c_view = memref.cast %c : memref<1xi32> to memref<?xi32>")
        self.kernel.reader.begin(text)
        (self._dots if self.kernel.sums_inner else self._added_rows)()
        parameters = [("%a", "memref<1xi8>"), ("%c", "memref<1xi32>")]
        parameters += [(f"%{each}", "index") for each in _SIZES]
        return text.function(name, [*self.kernel.reader.parameters(), *parameters])

    def _dots(self) -> None:
        """A result after the other, by whole vectors along the sum, then by what is left of one."""
        text, rows, size = self.text, self.kernel.rows, self.lanes * self.unit
        pieces = max(1, _SUMS // (rows + 1))
        last = text.rounded_down("%depth", size * pieces)
        count = (rows + self.tile.flips) * pieces
        with text.loop(text.index(0), "%columns", text.index(1)) as column:
            starts, types = [text.zeros(self.lanes, "i32")] * count, [self.words] * count
            step = text.index(size * pieces)
            with text.fold(text.index(0), last, step, starts, types) as (depth, sums, results):
                self.kernel.reader.prefetch(text, column, text.add(depth, _BYTES_AHEAD))
                for piece in range(pieces):
                    at = text.add(depth, piece * size)
                    right = self._word(self.kernel.reader.codes(text, column, at, size))
                    self._add(right, at, sums, piece, pieces)
            totals = [self._sum(results[i : i + pieces]) for i in range(0, count, pieces)]
            types = types[: len(totals)]
            with text.fold(last, "%depth", text.index(size), totals, types) as fold:
                depth, sums, totals = fold
                rest = text.minimum(text.sub("%depth", depth), text.index(size))
                codes = self.kernel.reader.codes_below(text, column, depth, size, rest)
                self._add(self._word(codes), depth, sums, 0, 1)
            for row in range(rows):
                total = totals[row]
                if self.tile.flips:
                    total = text.value(f"arith.subi {total}, {totals[rows]} : {self.words}")
                total = text.value(f"vector.reduction <add>, {total} : {self.words} into i32")
                text.line(
                    f"memref.store {total}, %c_view[{self._result(row, column)}] : memref<?xi32>"
                )

    def _add(self, right: str, depth: str, sums: list[str], piece: int, pieces: int) -> None:
        """Products with each row, and the sum of the operand itself where bits are flipped."""
        text = self.text
        for row in range(self.kernel.rows):
            place = text.add(self._left(row), text.div(depth, self.unit))
            left = text.value(f"vector.load %a_view[{place}] : memref<?xi32>, {self.words}")
            number = row * pieces + piece
            sums[number] = self.tile.added((left,), (right,), sums[number])
        if self.tile.flips:
            sums[piece - pieces] = self._flipped(right, sums[piece - pieces])

    def _added_rows(self) -> None:
        """Some rows of the right operand after the other, each along all columns."""
        text, step = self.text, self.unit * _GROUPS
        with text.loop(text.index(0), text.index(self.kernel.rows), text.index(1)) as row:
            line = text.add("%c_offset", text.mul(row, "%c_row"))
            with text.loop(text.index(0), "%columns", text.index(1)) as column:
                zero = text.constant("0 : i32")
                text.line(f"memref.store {zero}, %c_view[{text.add(line, column)}] : memref<?xi32>")
        last = text.rounded_down("%depth", step)
        with text.loop(text.index(0), last, text.index(step)) as depth:
            rows = [text.add(depth, i) for i in range(step)]
            lefts = [
                self._broadcast("%a_view", "i32", row, text.add(text.div(depth, self.unit), i))
                for row in range(self.kernel.rows)
                for i in range(_GROUPS)
            ]
            self._add_lines(lefts, [rows[i : i + self.unit] for i in range(0, step, self.unit)])
        with text.loop(last, "%depth", text.index(1)) as depth:
            lefts = [
                self._broadcast("%a_ones", f"i{self.bits}", row, depth)
                for row in range(self.kernel.rows)
            ]
            self._add_lines(lefts, [[depth]])

    def _add_lines(self, lefts: list[str], groups: list[list[str]]) -> None:
        """Rows of the right operand in groups, each times a word of each row of the left one."""
        text, reader, size = self.text, self.kernel.reader, _PIECES * self.lanes
        last = text.rounded_down("%columns", size)
        with text.loop(text.index(0), last, text.index(size)) as column:
            for row in (row for group in groups for row in group):
                reader.prefetch(text, text.add(row, _GROUPS * self.unit), column)
            rights = [
                self._joined([reader.codes(text, row, column, size) for row in group], size)
                for group in groups
            ]
            for i in range(_PIECES):
                at = text.add(column, i * self.lanes)
                self._accumulate(lefts, [each[i] for each in rights], at, None)
        with text.loop(last, "%columns", text.index(self.lanes)) as column:
            rest = text.minimum(text.sub("%columns", column), text.index(self.lanes))
            rights = [
                self._joined(
                    [reader.codes_below(text, row, column, self.lanes, rest) for row in group],
                    self.lanes,
                )[0]
                for group in groups
            ]
            self._accumulate(lefts, rights, column, rest)

    def _accumulate(
        self, lefts: list[str], rights: list[str], column: str, rest: str | None
    ) -> None:
        """Add products to the results from `column` on; each row has as many words of `lefts`."""
        text, count = self.text, len(rights)
        taken = text.zeros(self.lanes, "i32")
        if self.tile.flips:
            for right in rights:
                taken = self._flipped(right, taken)
        mask = (
            ""
            if rest is None
            else text.value(f"vector.create_mask {rest} : vector<{self.lanes}xi1>")
        )
        masked = f"memref<?xi32>, vector<{self.lanes}xi1>, {self.words}"
        for row in range(self.kernel.rows):
            place = text.add(text.add("%c_offset", text.mul(text.index(row), "%c_row")), column)
            whole = f"%c_view[{place}] : memref<?xi32>, {self.words}"
            if rest is None:
                total = text.value(f"vector.load {whole}")
            else:
                zeros = text.zeros(self.lanes, "i32")
                total = text.value(
                    f"vector.maskedload %c_view[{place}], {mask}, {zeros} : {masked}"
                    f" into {self.words}"
                )
            if self.tile.flips:
                total = text.value(f"arith.subi {total}, {taken} : {self.words}")
            for left, right in zip(lefts[row * count :], rights, strict=False):
                total = self.tile.added((left,), (right,), total)
            if rest is None:
                text.line(f"vector.store {total}, {whole}")
            else:
                text.line(f"vector.maskedstore %c_view[{place}], {mask}, {total} : {masked}")

    def _joined(self, lines: list[str], size: int) -> list[str]:
        """Vectors of words of consecutive rows, `size` elements of each, the first row lowest in
        them; zeros for rows that are not given."""
        text = self.text
        lines = [*lines, *[text.zeros(size, "i8")] * (self.unit - len(lines))]
        while len(lines) > 1:
            half, vector, size = len(lines) // 2, f"vector<{size}xi8>", 2 * size
            lines = [
                text.value(f"vector.interleave {x}, {y} : {vector} -> vector<{size}xi8>")
                for x, y in zip(lines[:half], lines[half:], strict=True)
            ]
        step = self.lanes * self.unit
        return [
            self._word(sliced(text, lines[0], start, step, size, "i8"))
            for start in range(0, size, step)
        ]

    def _word(self, codes: str) -> str:
        size = self.lanes * self.unit
        value = self._extended(codes, size)
        return self.text.value(
            f"vector.bitcast {value} : vector<{size}xi{self.bits}> to {self.words}"
        )

    def _extended(self, codes: str, lanes: int) -> str:
        if self.bits == 8:
            return codes
        types = f"vector<{lanes}xi8> to vector<{lanes}xi{self.bits}>"
        return self.text.value(f"{self.kernel.extensions[1]} {codes} : {types}")

    def _broadcast(self, view: str, element: str, row: int, at: str) -> str:
        """A word of the left operand, or an element of it in a word, in each lane."""
        text, place = self.text, self._left(row)
        place = text.mul(place, self.unit) if element != "i32" else place
        one = text.value(f"memref.load {view}[{text.add(place, at)}] : memref<?x{element}>")
        if element != "i32":
            one = text.value(f"arith.extui {one} : {element} to i32")
        return text.value(f"vector.broadcast {one} : i32 to {self.words}")

    def _flipped(self, right: str, total: str) -> str:
        """What flipping the left operand's sign bits adds to sums, added to `total`."""
        flip = self.text.constant(f"dense<{FLIP}> : {self.words}")
        return self.tile.dot(flip, right, total)

    def _left(self, row: int) -> str:
        return self.text.add("%a_offset", self.text.mul(self.text.index(row), "%a_stride"))

    def _result(self, row: int, column: str) -> str:
        place = self.text.add("%c_offset", self.text.mul(self.text.index(row), "%c_row"))
        return self.text.add(place, self.text.mul(column, "%c_column"))

    def _sum(self, vectors: list[str]) -> str:
        total = vectors[0]
        for each in vectors[1:]:
            total = self.text.value(f"arith.addi {total}, {each} : {self.words}")
        return total
