"""A product by packed blocks: the left operand is packed first, then each thread packs the columns
that it multiplies.
"""

from mlir_fp8.lowering.kernels.products.blocking import Blocking, blocking
from mlir_fp8.lowering.kernels.products.packed_blocks import PackedBlocks
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import Argument

_PACKING_WORK = 8
"""The cost of packing an element, in multiplications."""


def write_blocks(parts: ProductParts) -> None:
    """Two parallel loops for all rows that are packed at once: packing these, and products."""
    sizes = blocking(parts.product, parts.target, parts.choice, parts.threads)
    _Writer(parts, sizes).write()


class _Writer:
    def __init__(self, parts: ProductParts, sizes: Blocking) -> None:
        self.parts, self.sizes, self.blocks = parts, sizes, PackedBlocks(parts, sizes)

    def write(self) -> None:
        parts, sizes, text = self.parts, self.sizes, self.parts.text
        zero, m, k = text.index(0), text.index(parts.m), text.index(parts.k)
        left = self.blocks.new_left()
        with text.loop(zero, k, text.index(sizes.depth)) as first:
            end = text.minimum(text.add(first, sizes.depth), k)
            with text.loop(zero, m, text.index(sizes.rows)) as row:
                rows = text.minimum(text.sub(m, row), text.index(sizes.rows))
                self._share(
                    {
                        **self.blocks.passed("%left", left),
                        "%depth_begin": (first, "index"),
                        "%depth_end": (end, "index"),
                        "%row": (row, "index"),
                        "%rows": (rows, "index"),
                    }
                )

    def _share(self, passed: dict[str, Argument]) -> None:
        """%rows rows from %row on, of the reduction from %depth_begin to %depth_end."""
        parts, sizes, text = self.parts, self.sizes, self.parts.text
        rows, depth = passed["%rows"][0], min(sizes.depth, parts.k)
        count = text.mul(text.divided_up(rows, sizes.cached_rows), self._deep)
        most = -(-sizes.rows // sizes.cached_rows) * self._deep
        work = min(sizes.cached_rows, parts.m) * min(depth, parts.target.depth) * _PACKING_WORK
        parts.shared("left", (count, most), work, passed, self._pack)
        across = -(-parts.n // sizes.columns)
        most = -(-sizes.rows // sizes.item_rows) * across
        count = text.mul(text.divided_up(rows, sizes.item_rows), across), most
        work = parts.work(min(sizes.item_rows, parts.m), min(sizes.columns, parts.n), depth)
        parts.shared("blocks", count, work, passed, self._multiply)

    @property
    def _deep(self) -> int:
        """How many blocks the reduction that is packed at once has."""
        return -(-min(self.sizes.depth, self.parts.k) // self.parts.target.depth)

    def _pack(self) -> None:
        """The blocks [%begin, %end) of the left operand; one beyond %depth_end is empty."""
        text, step, size = self.parts.text, self.sizes.cached_rows, self.parts.target.depth
        with text.loop("%begin", "%end", text.index(1)) as number:
            place = text.mul(text.div(number, self._deep), step)
            rows = text.minimum(text.sub("%rows", place), text.index(step))
            at = text.mul(text.rem(number, self._deep), size)
            begin = text.add("%depth_begin", at)
            end = text.minimum(text.add(begin, size), "%depth_end")
            with text.loop(begin, end, text.index(size)) as depth:
                first = text.add("%row", place)
                self.blocks.pack_left(("%left", at, place), (first, rows), depth)

    def _multiply(self) -> None:
        """The results [%begin, %end) of so many rows and columns each."""
        parts, sizes, text = self.parts, self.sizes, self.parts.text
        new = self.blocks.right.new()
        sums = self.blocks.group_sums()
        buffer = "" if sums is None else sums.new()
        zero = text.index(0)
        parts.new_block(sizes.cached_rows if self._is_summed_at_once else sizes.item_rows)
        across = -(-parts.n // sizes.columns)
        with text.loop("%begin", "%end", text.index(1)) as number:
            place = text.mul(text.div(number, across), sizes.item_rows)
            rows = text.minimum(text.sub("%rows", place), text.index(sizes.item_rows))
            column = text.mul(text.rem(number, across), sizes.columns)
            columns = text.minimum(text.sub(text.index(parts.n), column), text.index(sizes.columns))
            with text.loop("%depth_begin", "%depth_end", text.index(parts.target.depth)) as depth:
                right = self.blocks.right.panels(new, column, columns, depth)
                at = text.sub(depth, "%depth_begin")
                with text.loop(zero, rows, text.index(sizes.cached_rows)) as inside:
                    first = text.add(place, inside)
                    count = text.minimum(text.sub(rows, inside), text.index(sizes.cached_rows))
                    row = text.add("%row", first)
                    start = parts.place(row, column, zero if self._is_summed_at_once else inside)
                    group = None if sums is None else (sums, buffer, sums.place(inside, zero))
                    size = count, columns
                    self.blocks.multiply(("%left", at, first), right, start, size, depth, group)
                    parts.finish_block(start, (row, column), size, depth)

    @property
    def _is_summed_at_once(self) -> bool:
        return self.parts.k <= self.parts.target.depth
