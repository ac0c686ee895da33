"""A product's epilogue on the sums that a thread holds: the steps of `Epilogue`, to its stores.

The result of `wgmma` has in a thread two neighbouring columns of each eight, of a row and of the
row eight below (PTX ISA, matrix fragments of `wgmma.m64nNk32`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS, load, widened
from mlir_fp8.lowering.gpu.kernels.product.columns import store_columns
from mlir_fp8.lowering.gpu.kernels.product.rounding import rounded
from mlir_fp8.lowering.gpu.kernels.product.rows import Rows, chunk_columns, store_row
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.kernels.product.steps import finished, gated
from mlir_fp8.lowering.gpu.kernels.scaling import Divisor, divisor
from mlir_fp8.lowering.gpu.kernels.text import GpuText

Memory = tuple[str, str]
"""A memref and its type."""


@dataclass(frozen=True)
class Place:
    """Of a tile: its first column; of a thread its first row, index, and its lane, i32."""

    row: str
    column: str
    lane: str


class Finish:
    """The epilogue of a kernel, while it is written: `memories` by the names of `Epilogue`."""

    def __init__(self, text: GpuText, shape: Product, memories: dict[str, Memory]) -> None:
        self.text, self.shape, self.steps = text, shape, shape.epilogue
        self.memories = memories
        tensors = [("a_scale", self.steps.a_scale), ("b_scale", self.steps.b_scale)]
        tensors += [("up_scale", self.steps.b_scale)] * ("up_scale" in memories)
        self.factors = {name: self._scalar(name) for name, kind in tensors if kind == "tensor"}
        self.moved: dict[str, tuple[str, str | None]] = {}
        """By name of a vector: what is added to the place of a number, and whether it is there."""
        self.end: str | int | None = None
        """Before which row a tile ends; None: none goes beyond."""
        self.by: Divisor | None = None
        if self.steps.d_scale:
            is_product = self.steps.d_scale == "multiply"
            scale = rounded(text, self._scalar("d_scale"), self.steps.scaling_type)
            self.by = divisor(text, scale, "product" if is_product else "branch")
            self.factors["d_scale"] = scale

    def _scalar(self, name: str) -> str:
        memory, type_ = self.memories[name]
        return self.text.value(f"memref.load {memory}[{self.text.index(0)}] : {type_}")

    def stored(self, sums: Sequence[str], place: Place, largest: str | None) -> str | None:
        """Store the tile; the larger of `largest`, an i32, and of the magnitudes, for `amax`."""
        text, each = self.text, chunk_columns(self.steps.result)
        wide = text.value(f"arith.index_cast {place.lane} : i32 to index")
        lane_column = text.mul(text.rem(wide, 4), 2)
        rows = [self._row(text.add(place.row, 8 * half)) for half in range(2)]
        for at in range(0, self.shape.share_columns, each):
            start = text.add(place.column, at)
            pairs = [text.add(text.add(start, lane_column), i) for i in range(0, each, 8)]
            sides = [[self._columns(pair) for pair in pairs]]
            if self.steps.gate:
                sides.append([self._up_columns(pair) for pair in pairs])
            places = [
                Rows(self.shape, self.memories["d"], row, inside, start, place.lane)
                for row, inside, _ in rows
            ]
            words: list[list[str]] = []
            for half, (_, inside, factor) in enumerate(rows):
                found: list[list[str]] = []
                for side, columns in enumerate(sides):
                    first = (side * self.shape.share_columns + at) // 2 + 2 * half
                    taken = [sums[first + 4 * i :][:2] for i in range(len(columns))]
                    added = self._added(rows[half], pairs)
                    found.append(self._finished(taken, columns, factor, added))
                numbers = found[0]
                if len(found) > 1:
                    both = zip(*found, strict=True)
                    numbers = [gated(text, self.steps, gate, up) for gate, up in both]
                largest = self._larger(largest, numbers, pairs, inside)
                scale = self.factors.get("d_scale")
                words.append(store_row(text, places[half], self.steps, numbers, self.by, scale))
            if self.steps.transposed:
                store_columns(text, places[0], self.memories["transposed"], *words)
        return largest

    def _finished(
        self,
        sums: Sequence[Sequence[str]],
        columns: Sequence[Sequence[tuple[str | None, str | None]]],
        row_factor: str | None,
        added: Sequence[Sequence[str | None]],
    ) -> list[str]:
        """Of one row the sums of pairs of columns, which have factors, biases and `c`."""
        by_row = self.factors.get("a_scale", row_factor)
        return [
            finished(self.text, self.steps, x, [by_row, factor], bias, c)
            for pair, both, cs in zip(sums, columns, added, strict=True)
            for x, (factor, bias), c in zip(pair, both, cs, strict=True)
        ]

    def _added(
        self, row: tuple[str, str | None, str | None], pairs: Sequence[str]
    ) -> list[Sequence[str | None]]:
        """`c` of pairs of columns of a row."""
        text, steps = self.text, self.steps
        if not steps.c:
            return [(None, None)] * len(pairs)
        at, inside, _ = row
        start = text.mul(at, self.shape.n)
        found = [self._pair("c", steps.c, each, start, inside) for each in pairs]
        return [[rounded(text, x, steps.type) for x in pair] for pair in found]

    def _row(self, row: str) -> tuple[str, str | None, str | None]:
        """A row, whether it is one of D, and its factor."""
        inside = None if self.end is None else self.text.below(row, self.end)
        factor = None
        if self.steps.a_scale == "row":
            factor = self._loaded("a_scale", "f32", row, 1, inside)[0]
        return row, inside, factor

    def _columns(self, column: str) -> list[tuple[str | None, str | None]]:
        """The factors and biases of two columns."""
        factors = [self.factors.get("b_scale")] * 2
        biases = [None, None]
        if self.steps.b_scale == "column":
            factors = self._pair("b_scale", "f32", column)
        if self.steps.bias:
            found = self._pair("bias", self.steps.bias, column)
            biases = [rounded(self.text, each, self.steps.type) for each in found]
        return list(zip(factors, biases, strict=True))

    def _up_columns(self, column: str) -> list[tuple[str | None, str | None]]:
        """As `_columns`, of what is multiplied by the gate."""
        factors = [self.factors.get("up_scale", self.factors.get("b_scale"))] * 2
        if self.steps.b_scale == "column":
            name, further = (
                ("up_scale", 0) if self.shape.up == "apart" else ("b_scale", self.shape.n)
            )
            factors = self._pair(name, "f32", column, further)
        return [(each, None) for each in factors]

    def _pair(
        self,
        name: str,
        element: str,
        column: str,
        further: str | int = 0,
        row_inside: str | None = None,
    ) -> list[str]:
        """Of two columns, of a row that is inside of D; in memory `further` on."""
        text, shape = self.text, self.shape
        if shape.n % 2 == 0:
            inside = row_inside
            if shape.n % shape.tile_columns:
                inside = text.both(inside, text.below(column, shape.n))
            return self._loaded(name, element, text.add(column, further), 2, inside)
        both = [column, text.add(column, 1)]
        inside = [text.both(row_inside, text.below(each, shape.n)) for each in both]
        places = [text.add(each, further) for each in both]
        pairs = zip(places, inside, strict=True)
        return [self._loaded(name, element, at, 1, is_in)[0] for at, is_in in pairs]

    def _loaded(
        self, name: str, element: str, at: str, lanes: int, inside: str | None
    ) -> list[str]:
        kind = ELEMENTS[element]
        memory = self.memories[name]
        if name in self.moved:
            by, is_there = self.moved[name]
            at = self.text.value(f"arith.addi {at}, {by} : index")
            inside = inside if is_there is None else self.text.both(inside, is_there)
        vector = load(self.text, memory, kind.storage, at, lanes, lanes, [inside])
        return widened(self.text, kind, vector, lanes)

    def _larger(
        self, largest: str | None, numbers: Sequence[str], pairs: Sequence[str], inside: str | None
    ) -> str | None:
        """As integers, of which those of NaN are the largest; what is outside of D is 0."""
        if largest is None:
            return None
        text, shape = self.text, self.shape
        for i, number in enumerate(numbers):
            word = text.word_op("andi", text.bits(number, "f32", "i32"), (1 << 31) - 1)
            is_in = inside
            if shape.n % shape.tile_columns:
                column = text.add(pairs[i // 2], i % 2)
                is_in = text.both(inside, text.below(column, shape.n))
            if is_in is not None:
                word = text.value(f"arith.select {is_in}, {word}, {text.i32(0)} : i32")
            largest = text.word_op("maxui", largest, word)
        return largest
