"""The packing kernel: copies a block of an operand into the layout that the micro-kernel reads.

A block has an outer and an inner dimension. The packed block is contiguous along the inner one, or
along that of each panel. Decoding and dequantizing are fused into packing.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.pack_fours import FOURS, pack_fours_text
from mlir_fp8.lowering.kernels.products.packed_places import PackedPlaces
from mlir_fp8.lowering.kernels.vector_code.byte_tables import (
    CODES,
    by_lanes,
    decoded,
    in_order,
    looked_up_codes,
    pairs_in_order,
    pairs_of_columns,
    scaled,
)
from mlir_fp8.lowering.kernels.vector_code.code_blocks import sliced
from mlir_fp8.lowering.kernels.vector_code.expression import multiplied
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import BLOCK, ScaledCodes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.kernels.vector_code.transposed_squares import transposed

PACKED_ELEMENTS = {"f32": "f32", "bf16": "i16", "pairs": "i32"}
"""Packed forms: f32; the bits of bf16; pairs of bf16 from two consecutive outer elements. Beside
them are those of `pack_fours.FOURS`."""
_SQUARE = 16
"""Columns, and codes of each, that are transposed at once to be looked up."""
_PREFETCH_DISTANCE = 8
"""Rows of some panels, which are short, from those that are read to those that are asked for."""


@dataclass(frozen=True)
class Pack:
    """What a packing kernel is specialized for; sizes and strides are run-time parameters."""

    reader: Reader
    form: str
    """One of `PACKED_ELEMENTS` or of `FOURS`. Only values exact in bf16 may be packed to it."""
    factor: float = 1.0
    """A scale fused into packing."""
    width: int = 0
    """Inner elements of a panel; panels are `panel` elements apart. 0: no panels."""

    def looks_up(self, target: KernelTarget) -> ScaledCodes | None:
        """The codes that become bf16 by `byte_tables`, where they do."""
        if self.form not in ("bf16", "pairs") or self.factor != 1.0:
            return None
        codes = looked_up_codes(self.reader.expression, target)
        if codes is None or codes.scale is None:
            return codes
        summed = self.reader.outer if self.form == "pairs" else self.reader.inner
        leaf = self.reader.expression.leaves[codes.scale_leaf]
        is_of_blocks = leaf.group(summed) % BLOCK == 0 or not leaf.strides[summed]
        return codes if is_of_blocks else None

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the reader's parameters, then those of `PackedPlaces`.

        The block is zero-padded to the padded sizes.
        """
        if self.form in FOURS:
            return pack_fours_text(name, self.reader, self.form, self.width, target)
        return _Writer(self, target).function(name)


class _Writer:
    """Loads two f32 vectors of elements at a time: fewer 8-bit codes would not fill a register."""

    def __init__(self, pack: Pack, target: KernelTarget) -> None:
        self.pack, self.target, self.text = pack, target, KernelText()
        self.unit = 2 if pack.form == "pairs" else 1
        self.element = PACKED_ELEMENTS[pack.form]
        self.places = PackedPlaces(self.text, self.element, self.unit, pack.width)
        self.codes = pack.looks_up(target)

    def function(self, name: str) -> str:
        text, lanes = self.text, self.target.lanes
        zero = text.index(0)
        self.places.begin()
        self.pack.reader.begin(text)
        whole = text.rounded_down("%outer_count", self.unit)
        if self.pack.reader.is_transposed:
            columns = text.rounded_down("%inner_count", lanes)
            rows = zero
            if self.codes is not None and self.unit == 2:
                rows = self._looked_up_transposes(self.codes, columns)
            if self.unit == 2 and self.pack.reader.expression.reads_bf16:
                rows = self._squares_of_pairs(columns)
            rows = self._transposes(rows, columns, 2 * lanes)
            rows = self._transposes(rows, columns, lanes)
            self._rows(zero, rows, columns, 1)
            self._rows(rows, whole, zero, 1)
        else:
            first = zero
            if self.codes is not None:
                first = self._looked_up_rows(self.codes, whole)
            self._rows(zero, whole, first, self.pack.width or 2 * lanes)
        if self.unit == 2:
            odd = text.value(f"arith.cmpi slt, {whole}, %outer_count : index")
            with text.when(odd), text.loop(zero, "%inner_count", text.index(1)) as inner:
                self._put(whole, inner, [self._load(whole, inner, 1), text.zeros(1)], 1)
        self.places.pad()
        parameters = [*self.pack.reader.parameters(), *self.places.parameters()]
        return text.function(name, parameters)

    def _looked_up_rows(self, codes: ScaledCodes, high: str) -> str:
        """Pack the rows below `high` by whole vectors of codes; gives where the tail begins."""
        text, reader = self.text, self.pack.reader
        last = text.rounded_down("%inner_count", CODES)
        with (
            text.loop(text.index(0), high, text.index(self.unit)) as outer,
            text.loop(text.index(0), last, text.index(CODES)) as inner,
        ):
            rows = [text.add(outer, i) for i in range(self.unit)]
            if self.pack.width:
                for row in rows:
                    reader.prefetch(text, text.add(row, _PREFETCH_DISTANCE), inner)
            read = [reader.looked_up(text, (row, inner), codes.leaf) for row in rows]
            ordered = [in_order(text, *read)] if self.unit == 1 else pairs_in_order(text, *read)
            numbers = [each for one in ordered for each in decoded(text, codes.format, one)]
            for i, each in enumerate(numbers):
                column = text.add(inner, i * CODES // len(numbers))
                if codes.scale is not None:
                    each = scaled(text, each, self._scales_in_row(codes, outer, column))
                self._put_bytes(outer, column, each)
        return last

    def _scales_in_row(self, codes: ScaledCodes, outer: str, inner: str) -> str:
        """For each 32 bits of numbers in order: of pairs one, of a row's numbers two."""
        text, reader = self.text, self.pack.reader
        if self.unit == 2:
            return reader.scale(text, self.target, codes, (outer, inner), _SQUARE)
        vector = f"vector<{_SQUARE}xf32>"
        halves: list[str] = []
        for start in (0, BLOCK):
            at = outer, text.add(inner, start)
            one = reader.scale(text, self.target, codes, at, 1)
            halves.append(text.value(f"vector.broadcast {one} : vector<1xf32> to {vector}"))
        low, high = halves
        order = [*range(_SQUARE // 2), *range(_SQUARE, _SQUARE + _SQUARE // 2)]
        return text.value(f"vector.shuffle {low}, {high} {order} : {vector}, {vector}")

    def _looked_up_transposes(self, codes: ScaledCodes, columns: str) -> str:
        """16 columns of 64 codes each at once, of so many columns; gives where the rows end."""
        text, reader = self.text, self.pack.reader
        last = text.rounded_down("%outer_count", CODES)
        with (
            text.loop(text.index(0), columns, text.index(_SQUARE)) as inner,
            text.loop(text.index(0), last, text.index(CODES)) as outer,
        ):
            places = [text.add(inner, i) for i in range(_SQUARE)]
            for place in places:
                reader.prefetch_along(text, outer, text.add(place, _SQUARE), codes.leaf)
            rows = [reader.looked_up(text, (outer, each), codes.leaf, "outer") for each in places]
            for start, lanes in zip(range(0, CODES, _SQUARE), by_lanes(text, rows), strict=True):
                scale = None
                if codes.scale is not None:
                    at = text.add(outer, start), inner
                    scale = reader.scale(text, self.target, codes, at, _SQUARE)
                for i, each in enumerate(pairs_of_columns(text, lanes)):
                    for j, numbers in enumerate(decoded(text, codes.format, each)):
                        row = text.add(outer, start + 4 * i + 2 * j)
                        if scale is not None:
                            numbers = scaled(text, numbers, scale)
                        self._put_bytes(row, inner, numbers)
        return last

    def _put_bytes(self, outer: str, inner: str, value: str) -> None:
        """A vector of bytes, which are numbers in order."""
        text, lanes = self.text, CODES // {"i16": 2, "i32": 4}[self.element]
        vector = f"vector<{lanes}x{self.element}>"
        value = text.value(f"vector.bitcast {value} : vector<{CODES}xi8> to {vector}")
        self.places.put(value, outer, inner, lanes)

    def _load(self, outer: str, inner: str, lanes: int, along: str = "inner") -> str:
        value = self.pack.reader.load(self.text, self.target, outer, inner, lanes, along)
        if self.pack.factor == 1.0:
            return value
        return multiplied(self.text, value, self.pack.factor, lanes)

    def _rows(self, low: str, high: str, first: str, lanes: int) -> None:
        """Pack the rows [`low`, `high`) from element `first`: vector loops, then a scalar tail."""
        text = self.text
        with text.loop(low, high, text.index(self.unit)) as outer:
            while lanes > 1:
                last = text.rounded_down("%inner_count", lanes)
                with text.loop(first, last, text.index(lanes)) as inner:
                    self._copy(outer, inner, lanes)
                first, lanes = last, lanes // 2 if lanes > self.target.lanes else 1
            with text.loop(first, "%inner_count", text.index(1)) as inner:
                self._copy(outer, inner, 1)

    def _copy(self, outer: str, inner: str, lanes: int) -> None:
        rows = [self.text.add(outer, i) for i in range(self.unit)]
        if self.pack.width and lanes > 1:
            for row in rows:
                self.pack.reader.prefetch(self.text, self.text.add(row, _PREFETCH_DISTANCE), inner)
        self._put(outer, inner, [self._load(row, inner, lanes) for row in rows], lanes)

    def _transposes(self, first: str, columns: str, size: int) -> str:
        """Pack rows from `first`, `size` at a time, by in-register transposes; gives the end."""
        text, lanes = self.text, self.target.lanes
        last = text.add(first, text.rounded_down(text.sub("%outer_count", first), size))
        with (
            text.loop(first, last, text.index(size)) as outer,
            text.loop(text.index(0), columns, text.index(lanes)) as inner,
        ):
            places = [text.add(inner, i) for i in range(lanes)]
            loaded = [self._load(outer, place, size, "outer") for place in places]
            for start in range(0, size, lanes):
                square = [sliced(text, each, start, lanes, size, "f32") for each in loaded]
                square = transposed(text, square)
                for i in range(0, lanes, self.unit):
                    row = text.add(outer, start + i)
                    self._put(row, inner, square[i : i + self.unit], lanes)
        return last

    def _squares_of_pairs(self, columns: str) -> str:
        """So many columns of bf16 numbers, which lie in pairs; gives where the rows end."""
        text, lanes = self.text, self.target.lanes
        last = text.rounded_down("%outer_count", 2 * lanes)
        halves, floats = f"vector<{2 * lanes}xi16>", f"vector<{lanes}xf32>"
        with (
            text.loop(text.index(0), columns, text.index(lanes)) as inner,
            text.loop(text.index(0), last, text.index(2 * lanes)) as outer,
        ):
            rows = [
                self.pack.reader.codes_along(text, outer, text.add(inner, i), 2 * lanes)
                for i in range(lanes)
            ]
            pairs = [text.value(f"vector.bitcast {each} : {halves} to {floats}") for each in rows]
            words = f"vector<{lanes}xi32>"
            for i, each in enumerate(transposed(text, pairs)):
                value = text.value(f"arith.bitcast {each} : {floats} to {words}")
                self.places.put(value, text.add(outer, 2 * i), inner, lanes)
        return last

    def _put(self, outer: str, inner: str, values: list[str], lanes: int) -> None:
        text, vector = self.text, f"vector<{lanes}x{self.element}>"
        if self.pack.form == "f32":
            (value,) = values
        else:
            ints = f"vector<{lanes}xi32>"
            low, *high = (
                text.value(f"arith.bitcast {each} : vector<{lanes}xf32> to {ints}")
                for each in values
            )
            value = text.value(
                f"arith.shrui {low}, {text.constant(f'dense<16> : {ints}')} : {ints}"
            )
            if high:
                value = text.value(f"arith.ori {value}, {high[0]} : {ints}")
            else:
                value = text.value(f"arith.trunci {value} : {ints} to {vector}")
        self.places.put(value, outer, inner, lanes)
