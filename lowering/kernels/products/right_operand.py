"""The right operand of a product by packed blocks: packed, or read where it lies in panels."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.block_form import BlockForm
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.panels import (
    Panels,
    decoded_in_place,
    lies_packed,
    panels_of,
)
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.reader import Reader

_PANELS = 8
"""Panels that one call packs."""


@dataclass(frozen=True)
class RightPanels:
    """Panels that the micro-kernel multiplies."""

    buffer: str
    """What `RightOperand.new` gave."""
    begin: str
    """A view of it from the first panel on."""
    panel: str
    """Elements of the tile from one panel to the next."""


class RightOperand(BlockForm):
    """That of a product, of which `columns` are multiplied at a time."""

    def __init__(self, parts: ProductParts, columns: int) -> None:
        super().__init__(parts)
        self._columns = columns
        product, target = parts.product, parts.target
        self._panels = panels_of(product)
        self._is_in_place = self._panels is not None and lies_packed(product, target)
        is_decoded = self._panels is not None and decoded_in_place(product, target)
        self.decoded: Expression | None = product.right if is_decoded else None
        """What the tile makes f32 of, while it multiplies; None where it has what it multiplies."""

    def new(self) -> str:
        """A buffer for the columns of an iteration; the operand itself where it lies as it is."""
        parts, width = self.parts, self.parts.target.columns
        if self._panels is not None and (self._is_in_place or self.decoded is not None):
            number = len(parts.product.left.leaves) + self._panels.leaf
            name, type_ = parts.parameters()[number]
            types = f"{type_} to memref<1xi8>"
            buffer = parts.text.value(f"builtin.unrealized_conversion_cast {name} : {types}")
        else:
            buffer = parts.scratch(self._columns * self.deepest * self.bytes)
        if self.places is not None:
            self.places.new("right", buffer, self._columns // width)
        return buffer

    def panels(self, to: str, column: str, columns: str, depth: str) -> RightPanels:
        """`columns` columns from `column` on, from `depth` on; `to` is what `new` gave."""
        text, (padded, steps) = self.parts.text, self.padded(depth)
        panel = text.mul(steps, self.parts.target.columns)
        found = RightPanels(to, to, panel)
        if self._panels is None:
            self._pack(to, column, columns, depth)
        elif self._is_in_place or self.decoded is not None:
            found = self._in_place(to, self._panels, column, depth)
        elif self._panels.unit == 1:
            self._pack_lines(to, self._panels, column, columns, depth)
        else:
            self._pack_whole(to, self._panels, (column, columns), (depth, padded))
        if self.places is not None and self.places.seeks("right"):
            self._find(found, columns, steps)
        return found

    def _pack(self, to: str, column: str, columns: str, depth: str) -> None:
        """Where rows are contiguous, several panels at once: a cache line spans several panels."""
        product, width = self.parts.product, self.parts.target.columns
        reader = Reader(product.right, product.k, product.n)
        pack = self.pack(reader, "right", 0 if reader.is_transposed else width)
        step = width if reader.is_transposed else width * _PANELS
        with self.parts.text.loop(
            self.parts.text.index(0), columns, self.parts.text.index(step)
        ) as first:
            at = {product.k: depth, product.n: self.parts.text.add(column, first)}
            source = self.parts.source(product.right, at, product.k, product.n)
            self._call(pack, source, (to, first), (depth, columns, step))

    def _pack_lines(self, to: str, panels: Panels, column: str, columns: str, depth: str) -> None:
        """One panel after the other, each of contiguous lines."""
        product, text, width = self.parts.product, self.parts.text, panels.width
        reader = panels.lines(product)
        pack = self.pack(reader, "right", width)
        with text.loop(text.index(0), columns, text.index(width)) as first:
            at = text.add(column, first)
            source = self.parts.source(
                product.right, {product.k: depth, product.n: at}, product.k, product.n, reader
            )
            self._call(pack, source, (to, first), (depth, columns, width))

    def _call(
        self,
        pack: str,
        source: list[tuple[str, str]],
        to: tuple[str, str],
        sizes: tuple[str, str, int],
    ) -> None:
        """Pack up to so many columns, the last of `sizes`, into the buffer of `to` from one on."""
        (buffer, first), (depth, columns, step) = to, sizes
        text, width = self.parts.text, self.parts.target.columns
        padded, steps = self.padded(depth)
        panel = text.mul(steps, width)
        count = text.minimum(text.sub(columns, first), text.index(step))
        start, whole = text.mul(text.div(first, width), panel), text.rounded_up(count, width)
        numbers = [start, text.index(width), self.depths(depth), count, padded, whole, panel]
        arguments = [(buffer, "memref<1xi8>"), *((each, "index") for each in numbers)]
        text.call(pack, [*source, *arguments])

    def _pack_whole(
        self, to: str, panels: Panels, columns: tuple[str, str], depth: tuple[str, str]
    ) -> None:
        """Panels whose elements are in the order of the packed ones, but of another type."""
        product, text, width = self.parts.product, self.parts.text, panels.width
        reader = panels.line(product)
        pack = self.parts.pack(Pack(reader, self.form))
        zero, one = text.index(0), text.index(1)
        size = text.mul(depth[1], width)
        with text.loop(zero, columns[1], text.index(width)) as first:
            at = {product.k: depth[0], product.n: text.add(columns[0], first)}
            source = self.parts.source(product.right, at, product.k, product.n, reader)
            start = text.mul(text.div(first, width), size)
            numbers = [start, zero, one, size, one, size, zero]
            arguments = [(to, "memref<1xi8>"), *((each, "index") for each in numbers)]
            text.call(pack, [*source, *arguments])

    def _in_place(self, to: str, panels: Panels, column: str, depth: str) -> RightPanels:
        text, product = self.parts.text, self.parts.product
        leaf = product.right.leaves[panels.leaf]
        size = {"f32": 4, "i16": 2, "i8": 1}[leaf.element]
        number = len(product.left.leaves) + panels.leaf
        place = self.parts.moved(number, leaf, {product.k: depth, product.n: column})
        bytes_ = text.value(f"memref.cast {to} : memref<1xi8> to memref<?xi8>")
        begin = text.value(
            f"memref.view {bytes_}[{text.mul(place, size)}][] : memref<?xi8> to memref<1xi8>"
        )
        if self.places is not None:
            self.places.alias("right", to, begin)
        return RightPanels(to, begin, text.index(panels.stride // self.unit))

    def _find(self, found: RightPanels, columns: str, steps: str) -> None:
        """The last places of each panel."""
        text, width = self.parts.text, self.parts.target.columns
        assert self.places is not None
        size = self.unit * self.bytes // 4
        count = text.div(text.rounded_up(columns, width), width)
        with text.loop(text.index(0), count, text.index(1)) as number:
            start = text.mul(text.mul(number, found.panel), size)
            words = start, text.mul(text.mul(steps, width), size)
            self.places.find(found.buffer, found.begin, words, number)
