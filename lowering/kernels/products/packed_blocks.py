"""Packs blocks of both operands and calls the micro-kernel on them."""

from mlir_fp8.lowering.kernels.products.amx_calls import call_amx
from mlir_fp8.lowering.kernels.products.amx_tile import SIDE
from mlir_fp8.lowering.kernels.products.arm_calls import call_bfmmla, call_fdot
from mlir_fp8.lowering.kernels.products.block_form import BlockForm
from mlir_fp8.lowering.kernels.products.blocking import Blocking
from mlir_fp8.lowering.kernels.products.byte_calls import call_byte_tile
from mlir_fp8.lowering.kernels.products.codes_tile import CodesTile
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.pack_fours import FOURS
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.right_operand import RightOperand, RightPanels
from mlir_fp8.lowering.kernels.products.sum_groups import GroupSums, group_size
from mlir_fp8.lowering.kernels.products.tile import left_stride, tile_text
from mlir_fp8.lowering.kernels.vector_code.reader import Reader


class PackedBlocks(BlockForm):
    """The packed blocks of both operands of the product whose function `parts` emits."""

    def __init__(self, parts: ProductParts, sizes: Blocking) -> None:
        super().__init__(parts)
        self.sizes = sizes
        self.right = RightOperand(parts, sizes.columns)

    def new_left(self) -> str:
        """A buffer for the rows that are packed at once."""
        blocks = -(-self.sizes.depth // self.parts.target.depth)
        buffer = self.parts.scratch(blocks * self._left_bytes)
        if self.places is not None:
            self.places.new("left", buffer, blocks * self._left_count)
        return buffer

    def passed(self, name: str, buffer: str) -> dict[str, tuple[str, str]]:
        """What `ProductParts.shared` passes for a buffer that is to be `name`, %left or %right."""
        places = {} if self.places is None else self.places.passed(name[1:], buffer)
        return {name: (buffer, "memref<1xi8>"), **places}

    @property
    def _left_count(self) -> int:
        """Calls of `pack_left` for the rows that are packed at once, of one depth."""
        return -(-self.sizes.rows // self.sizes.cached_rows)

    @property
    def _left_bytes(self) -> int:
        """Bytes of the rows that are packed at once, of one depth."""
        return self.sizes.rows * self._left_stride * self.bytes

    @property
    def _left_stride(self) -> int:
        """Elements between packed rows, on average where they lie in panels."""
        target = self.parts.target
        in_panels = target.tiles or self.form in FOURS
        return self.deepest if in_panels else left_stride(target, self.form)

    def pack_left(self, to: tuple[str, str, str], rows: tuple[str, str], depth: str) -> None:
        """Pack `rows`, the first and how many, from `depth` on; `multiply` takes the same.

        `to` is the buffer, how deep in it, and the first of its rows.
        """
        parts, text, product = self.parts, self.parts.text, self.parts.product
        view = self._left(*to)
        if parts.target.tiles:
            self._pack_left_tiles(view, rows, depth)
            self._find_left(to, view, rows[1], depth)
            return
        if self.form in FOURS:
            self._pack_left_panels(view, rows, depth)
            self._find_left(to, view, rows[1], depth)
            return
        pack = self.pack(Reader(product.left, product.m, product.k), "left", 0)
        first, count = rows
        source = parts.source(
            product.left, {product.m: first, product.k: depth}, product.m, product.k
        )
        padded_rows = text.rounded_up(count, parts.target.rows)
        stride, zero = text.index(left_stride(self.parts.target, self.form)), text.index(0)
        padded, _ = self.padded(depth)
        sizes = [zero, stride, count, self.depths(depth), padded_rows, padded, zero]
        numbers = [(each, "index") for each in sizes]
        parts.text.call(pack, [*source, (view, "memref<1xi8>"), *numbers])

    def _left(self, buffer: str, at: str, row: str) -> str:
        """The packed block `at` so deep in a buffer, from one of its rows on."""
        text = self.parts.text
        blocks = text.mul(text.div(at, self.parts.target.depth), self._left_bytes)
        begin = text.add(blocks, text.mul(row, self._left_stride * self.bytes))
        whole = text.value(f"memref.cast {buffer} : memref<1xi8> to memref<?xi8>")
        return text.value(f"memref.view {whole}[{begin}][] : memref<?xi8> to memref<1xi8>")

    def _pack_left_tiles(self, view: str, rows: tuple[str, str], depth: str) -> None:
        """One tile after the other along the sum, in the order in which they are loaded."""
        parts, text, product = self.parts, self.parts.text, self.parts.product
        width = self.step
        reader = Reader(product.left, product.m, product.k)
        pack = self.pack(reader, "left", width)
        padded, _ = self.padded(depth)
        with text.loop(text.index(0), rows[1], text.index(SIDE)) as first:
            count = text.minimum(text.sub(rows[1], first), text.index(SIDE))
            place = {product.m: text.add(rows[0], first), product.k: depth}
            source = parts.source(product.left, place, product.m, product.k)
            side, stride, panel = (text.index(each) for each in (SIDE, width, SIDE * width))
            start = text.mul(first, padded)
            sizes = [start, stride, count, self.depths(depth), side, padded, panel]
            numbers = [(each, "index") for each in sizes]
            text.call(pack, [*source, (view, "memref<1xi8>"), *numbers])

    def _pack_left_panels(self, view: str, rows: tuple[str, str], depth: str) -> None:
        """Panels of the rows of a register tile each, as those of the right operand."""
        parts, text, product = self.parts, self.parts.text, self.parts.product
        reader = Reader(product.left, product.k, product.m)
        padded, steps = self.padded(depth)
        tile = text.index(parts.target.rows)
        panel = text.mul(steps, parts.target.rows)
        pack = parts.pack(Pack(reader, self.form, width=parts.target.rows))
        with text.loop(text.index(0), rows[1], tile) as first:
            at = {product.k: depth, product.m: text.add(rows[0], first)}
            source = parts.source(product.left, at, product.k, product.m)
            count = text.minimum(text.sub(rows[1], first), tile)
            start = text.mul(text.div(first, parts.target.rows), panel)
            sizes = [start, tile, self.depths(depth), count, padded, tile, panel]
            numbers = [(each, "index") for each in sizes]
            text.call(pack, [*source, (view, "memref<1xi8>"), *numbers])

    def _find_left(self, to: tuple[str, str, str], view: str, rows: str, depth: str) -> None:
        if self.places is None or not self.places.seeks("left"):
            return
        text = self.parts.text
        padded, _ = self.padded(depth)
        words = text.mul(text.rounded_up(rows, self.parts.target.rows), text.div(padded, 2))
        self.places.find(to[0], view, (text.index(0), words), self._left_place(*to[1:]))

    def _left_place(self, at: str, row: str) -> str:
        """The number of the last place of the block `at` so deep that begins with a row."""
        text = self.parts.text
        first = text.mul(text.div(at, self.parts.target.depth), self._left_count)
        return text.add(first, text.div(row, self.sizes.cached_rows))

    @property
    def group(self) -> int:
        """How much of the summed dimension has results of its own, which are added up."""
        depth = self.parts.target.depth
        if self.parts.product.is_integer:
            return self.parts.k
        return group_size(-(-self.parts.k // depth)) * depth

    def group_sums(self) -> GroupSums | None:
        """The accumulators of a group, for an iteration's results; None with only one group."""
        if self.group >= self.parts.k:
            return None
        return GroupSums(self.parts, self.sizes.item_rows, self.sizes.columns)

    def multiply(
        self,
        left: tuple[str, str, str],
        right: RightPanels,
        place: str,
        sizes: tuple[str, str],
        depth: str,
        group: tuple[GroupSums, str, str] | None,
    ) -> None:
        """Multiply packed rows by packed columns, `sizes` of both, into %c at `place`.

        `left` is where `pack_left` packed these rows.

        With a `group`: into its accumulators, at an offset in their buffer, and from there into %c.
        """
        stride = self.parts.out_strides[self.parts.product.m]
        if group is None:
            self._multiply(left, right, ("%c", place, stride), sizes, depth, depth)
            return
        text, (sums, buffer, start) = self.parts.text, group
        in_group = text.rem(depth, self.group)
        self._multiply(left, right, (buffer, start, sums.stride), sizes, depth, in_group)
        next_ = text.add(depth, self.parts.target.depth)
        is_last = text.value(f"arith.cmpi uge, {next_}, {text.index(self.parts.k)} : index")
        rest = text.rem(next_, self.group)
        is_full = text.value(f"arith.cmpi eq, {rest}, {text.index(0)} : index")
        with text.when(text.value(f"arith.ori {is_last}, {is_full} : i1")):
            number = text.div(depth, self.group)
            sums.add((buffer, start), ("%c", place), (stride, 1), sizes, number)

    def _multiply(
        self,
        left: tuple[str, str, str],
        right: RightPanels,
        to: tuple[str, str, int],
        sizes: tuple[str, str],
        depth: str,
        accumulates: str,
    ) -> None:
        """Call the micro-kernel; `to` is a buffer, an offset and a row stride."""
        parts, text = self.parts, self.parts.text
        _, steps = self.padded(depth)
        buffer, place, stride = to
        numbers = [place, text.index(stride), *sizes, right.panel, steps, accumulates]
        packed = [(each, "memref<1xi8>") for each in (self._left(*left), right.begin)]
        result = (buffer, f"memref<1x{parts.product.out.element}>")
        arguments = [*packed, result, *((each, "index") for each in numbers)]
        if parts.product.is_integer:
            call_byte_tile(parts, self.form, arguments)
            return
        if self.places is not None:
            call = call_bfmmla if self.form == "fours" else call_amx
            call(parts, self.places, (left[0], self._left_place(*left[1:])), arguments)
        elif self.form == "codes":
            call_fdot(parts, arguments)
        else:
            decoded = self.right.decoded
            if decoded is None:
                tile = tile_text("NAME", parts.target, self.form)
            else:
                tile = CodesTile(parts.target, decoded).function("NAME")
            text.call(parts.functions.name_of("tile", tile), arguments)
