"""The packing kernel of bytes: into words of 32 bits, each of some elements along the sum.

The left operand is packed as its rows are, the right one in words of two or four elements from as
many consecutive rows, column by column.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.packed_places import PackedPlaces
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.kernels.vector_code.transposed_squares import transposed


@dataclass(frozen=True)
class PackBytes:
    """What a packing kernel is specialized for; sizes and strides are run-time parameters."""

    reader: Reader
    bits: int
    """Of a packed element: 8, or 16 to which bytes are extended."""
    unit: int
    """Consecutive outer elements in a word of an inner element; 1: elements are packed by rows."""
    width: int = 0
    """Inner elements of a panel; panels are `panel` elements apart, or words where they are these.
    0: no panels."""

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the reader's parameters, then those of `PackedPlaces`.

        The block is zero-padded to the padded sizes.
        """
        return _Writer(self, target).function(name)


class _Writer:
    def __init__(self, pack: PackBytes, target: KernelTarget) -> None:
        self.pack, self.text, self.lanes = pack, KernelText(), target.lanes
        self.element = f"i{pack.bits}"
        self.places = PackedPlaces(self.text, self.element, pack.unit, pack.width)
        self.extension = pack.reader.expression.byte_extension
        self.in_word = 32 // pack.bits
        """Elements of a word."""

    def function(self, name: str) -> str:
        text, reader = self.text, self.pack.reader
        zero = text.index(0)
        self.places.begin()
        reader.begin(text)
        across, down = "%inner_count", "%outer_count"
        if self.pack.unit > 1:
            step = self.lanes * self.pack.unit if reader.is_transposed else self.pack.unit
            rows, columns = text.rounded_down(down, step), text.rounded_down(across, self.lanes)
            (self._words_along if reader.is_transposed else self._words_across)(rows, columns)
        elif reader.is_transposed:
            rows = text.rounded_down(down, self.lanes)
            columns = text.rounded_down(across, self.lanes * self.in_word)
            self._turned(rows, columns)
        else:
            rows, columns = down, text.rounded_down(across, self.lanes * self.in_word)
            self._copied(rows, columns)
        self._ones(zero, rows, columns)
        self._ones(rows, down, zero)
        self._pad()
        return text.function(name, [*reader.parameters(), *self.places.parameters()])

    def _words_across(self, rows: str, columns: str) -> None:
        """Words of consecutive rows, which are contiguous."""
        text = self.text
        with (
            text.loop(text.index(0), rows, text.index(self.pack.unit)) as outer,
            text.loop(text.index(0), columns, text.index(self.lanes)) as inner,
        ):
            self._store(outer, inner, self._word(outer, inner, "inner"), f"{self.lanes}xi32")

    def _word(self, outer: str, inner: str, along: str) -> str:
        """A vector of words along a dimension, of consecutive elements along the other one."""
        text, words = self.text, f"vector<{self.lanes}xi32>"
        found = ""
        for i in range(self.in_word):
            place = (text.add(outer, i), inner) if along == "inner" else (outer, text.add(inner, i))
            value = self._extended(self._load(*place, self.lanes, along), self.lanes)
            kind = f"vector<{self.lanes}x{self.element}>"
            value = text.value(f"arith.extui {value} : {kind} to {words}")
            if i == 0:
                found = value
                continue
            by = text.constant(f"dense<{self.pack.bits * i}> : {words}")
            value = text.value(f"arith.shli {value}, {by} : {words}")
            found = text.value(f"arith.ori {found}, {value} : {words}")
        return found

    def _words_along(self, rows: str, columns: str) -> None:
        """Words of columns, each of which is contiguous: squares of words are transposed."""
        text, size = self.text, self.lanes * self.pack.unit
        with (
            text.loop(text.index(0), columns, text.index(self.lanes)) as inner,
            text.loop(text.index(0), rows, text.index(size)) as outer,
        ):
            places = [text.add(inner, i) for i in range(self.lanes)]
            for place in places:
                self.pack.reader.prefetch_along(text, outer, text.add(place, self.lanes))
            square = [self._extended(self._load(outer, x, size, "outer"), size) for x in places]
            kind = f"{size}x{self.element}"
            for i, each in enumerate(self._transposed(square, kind)):
                place = text.add(outer, i * self.pack.unit)
                self._store(place, inner, each, f"{self.lanes}xi32")

    def _turned(self, rows: str, columns: str) -> None:
        """Rows whose elements are apart: words along columns, in squares that are transposed."""
        text, size = self.text, self.lanes * self.in_word
        with (
            text.loop(text.index(0), columns, text.index(size)) as inner,
            text.loop(text.index(0), rows, text.index(self.lanes)) as outer,
        ):
            places = [text.add(inner, i) for i in range(0, size, self.in_word)]
            square = [self._word(outer, place, "outer") for place in places]
            for i, each in enumerate(self._transposed(square, f"{self.lanes}xi32")):
                self._store(text.add(outer, i), inner, each, f"{self.lanes}xi32")

    def _copied(self, rows: str, columns: str) -> None:
        text, size = self.text, self.lanes * self.in_word
        with (
            text.loop(text.index(0), rows, text.index(1)) as outer,
            text.loop(text.index(0), columns, text.index(size)) as inner,
        ):
            value = self._extended(self._load(outer, inner, size, "inner"), size)
            self._store(outer, inner, value, f"{size}x{self.element}")

    def _transposed(self, square: list[str], kind: str) -> list[str]:
        """Vectors of `kind`, taken for words, whose square is transposed."""
        text, floats = self.text, f"vector<{self.lanes}xf32>"
        given = [text.value(f"vector.bitcast {x} : vector<{kind}> to {floats}") for x in square]
        words = f"vector<{self.lanes}xi32>"
        return [
            text.value(f"arith.bitcast {x} : {floats} to {words}") for x in transposed(text, given)
        ]

    def _load(self, outer: str, inner: str, lanes: int, along: str) -> str:
        reader = self.pack.reader
        return (reader.codes if along == "inner" else reader.codes_along)(
            self.text, outer, inner, lanes
        )

    def _extended(self, value: str, lanes: int) -> str:
        if self.pack.bits == 8:
            return value
        types = f"vector<{lanes}xi8> to vector<{lanes}x{self.element}>"
        return self.text.value(f"{self.extension} {value} : {types}")

    def _store(self, outer: str, inner: str, value: str, kind: str) -> None:
        """A vector of `kind`, which is stored as elements."""
        text, place = self.text, self._place(outer, inner)
        count, _, element = kind.partition("x")
        if element != self.element:
            size = int(count) * self.in_word
            stored = f"vector<{size}x{self.element}>"
            value = text.value(f"vector.bitcast {value} : vector<{kind}> to {stored}")
            kind = f"{size}x{self.element}"
        text.line(f"vector.store {value}, %target[{place}] : {self.places.type}, vector<{kind}>")

    def _ones(self, low: str, high: str, first: str) -> None:
        """The rows [`low`, `high`) from element `first` on, one element at a time."""
        text = self.text
        with (
            text.loop(low, high, text.index(1)) as outer,
            text.loop(first, "%inner_count", text.index(1)) as inner,
        ):
            value = self._extended(self._load(outer, inner, 1, "inner"), 1)
            self._store(outer, inner, value, f"1x{self.element}")

    def _place(self, outer: str, inner: str) -> str:
        """Where an element is stored: counted in elements, though strides may be in words."""
        text, unit = self.text, self.pack.unit
        place = self.places.place(outer, inner)
        return place if unit == 1 else text.add(text.mul(place, unit), text.rem(outer, unit))

    def _pad(self) -> None:
        """Zero-pad beyond the counts. Both operands are padded along the reduction."""
        text, zero = self.text, self.text.zeros(1, self.element)
        with text.loop(text.index(0), "%outer_padded", text.index(1)) as outer:
            inside = text.value(f"arith.cmpi slt, {outer}, %outer_count : index")
            first = text.value(f"arith.select {inside}, %inner_count, {text.index(0)} : index")
            with text.loop(first, "%inner_padded", text.index(1)) as inner:
                place = self._place(outer, inner)
                types = f"{self.places.type}, vector<1x{self.element}>"
                text.line(f"vector.store {zero}, %target[{place}] : {types}")
