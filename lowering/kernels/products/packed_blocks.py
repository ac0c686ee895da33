"""Packs blocks of both operands and calls the micro-kernel on them."""

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.amx_calls import call_amx
from mlir_fp8.lowering.kernels.products.amx_tile import SIDE, STEP
from mlir_fp8.lowering.kernels.products.last_places import LastPlaces
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.sum_groups import GroupSums, group_size
from mlir_fp8.lowering.kernels.products.tile import UNROLL, left_stride, tile_text
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_PANELS = 8
"""Panels of the right operand that one call packs."""


def packed_form(product: Contraction, target: KernelTarget) -> str:
    """bf16 where both operands are codes and the processor multiplies pairs of it, else f32.

    With AMX operands may be bf16 themselves. Not so codes of f8E8M0FNU: its 2^-127 would count as
    zero.
    """
    sides = (product.left, product.right)
    exact = all(_is_exact(side) or (target.tiles and side.is_bf16) for side in sides)
    return "bf16" if exact and target.pair_dots else "f32"


def _is_exact(side: Expression) -> bool:
    fmt = side.decoded_format()
    return fmt is not None and fmt.has_zero


class PackedBlocks:
    """The packed form and block sizes of the product whose function `parts` emits."""

    def __init__(self, parts: ProductParts) -> None:
        self.parts = parts
        self.form = packed_form(parts.product, parts.target)
        self.unit = 1 if self.form == "f32" else 2
        """Elements of the reduction per step of the micro-kernel."""
        self.places = LastPlaces(parts) if self.form == "bf16" and parts.target.tiles else None

    def new_left(self, rows: int) -> str:
        """A buffer for `rows` packed rows."""
        buffer = self.parts.scratch(self._left_bytes(rows))
        if self.places is not None:
            self.places.new("left", buffer, 1)
        return buffer

    def new_right(self, columns: int) -> str:
        """A buffer for `columns` packed columns."""
        buffer = self.parts.scratch(self._right_bytes(columns))
        if self.places is not None:
            self.places.new("right", buffer, -(-columns // self.parts.target.columns))
        return buffer

    def passed(self, name: str, buffer: str) -> dict[str, tuple[str, str]]:
        """What `ProductParts.shared` passes for a buffer that is to be `name`, %left or %right."""
        places = {} if self.places is None else self.places.passed(name[1:], buffer)
        return {name: (buffer, "memref<1xi8>"), **places}

    def _left_bytes(self, rows: int) -> int:
        """Bytes of `rows` packed rows, padded to whole tiles."""
        whole = -(-rows // self.parts.target.rows) * self.parts.target.rows
        stride = (
            self._depth if self.parts.target.tiles else left_stride(self.parts.target, self.form)
        )
        return whole * stride * (4 // self.unit)

    def _right_bytes(self, columns: int) -> int:
        """Of `columns` columns, whole tiles of them."""
        depth = self._depth
        whole = -(-columns // self.parts.target.columns) * self.parts.target.columns
        return whole * depth * (4 // self.unit)

    @property
    def _step(self) -> int:
        """What the depth of a block is padded to a multiple of."""
        return self.unit * (STEP if self.parts.target.tiles else UNROLL)

    @property
    def _depth(self) -> int:
        """The most that is summed in a block, padded."""
        return -(-min(self.parts.k, self.parts.target.depth) // self._step) * self._step

    def depths(self, depth: str) -> str:
        """The reduction size of the block that begins at `depth`."""
        text = self.parts.text
        return text.minimum(
            text.sub(text.index(self.parts.k), depth), text.index(self.parts.target.depth)
        )

    def _padded(self, depth: str) -> tuple[str, str]:
        """The padded depth of a block, and the steps of the tile kernel for it."""
        padded = self.parts.text.rounded_up(self.depths(depth), self._step)
        return padded, self.parts.text.div(padded, 2) if self.unit == 2 else padded

    def pack_left(self, to: str, row: str, rows: str, depth: str) -> None:
        parts, text, product = self.parts, self.parts.text, self.parts.product
        if parts.target.tiles:
            self._pack_left_tiles(to, row, rows, depth)
            return
        form = "f32" if self.unit == 1 else "bf16"
        pack = parts.pack(Pack(Reader(product.left, product.m, product.k), form))
        place = {product.m: row, product.k: depth}
        source = parts.source(product.left, place, product.m, product.k)
        padded_rows = text.rounded_up(rows, parts.target.rows)
        stride, zero = text.index(left_stride(self.parts.target, self.form)), text.index(0)
        padded, _ = self._padded(depth)
        sizes = [zero, stride, rows, self.depths(depth), padded_rows, padded, zero]
        parts.text.call(pack, [*source, (to, "memref<1xi8>"), *((each, "index") for each in sizes)])

    def _pack_left_tiles(self, to: str, row: str, rows: str, depth: str) -> None:
        """One tile after the other along the sum, in the order in which they are loaded."""
        parts, text, product = self.parts, self.parts.text, self.parts.product
        width = self._step
        reader = Reader(product.left, product.m, product.k)
        pack = parts.pack(Pack(reader, "bf16", width=width))
        padded, _ = self._padded(depth)
        with text.loop(text.index(0), rows, text.index(SIDE)) as first:
            count = text.minimum(text.sub(rows, first), text.index(SIDE))
            place = {product.m: text.add(row, first), product.k: depth}
            source = parts.source(product.left, place, product.m, product.k)
            side, stride, panel = (text.index(each) for each in (SIDE, width, SIDE * width))
            start = text.mul(first, padded)
            sizes = [start, stride, count, self.depths(depth), side, padded, panel]
            numbers = [(each, "index") for each in sizes]
            text.call(pack, [*source, (to, "memref<1xi8>"), *numbers])
        if self.places is not None and self.places.seeks("left"):
            _, steps = self._padded(depth)
            words = text.mul(text.rounded_up(rows, SIDE), steps)
            self.places.find("left", to, (text.index(0), words), text.index(0))

    def pack_panels(self, to: str, place: str, column: str, columns: str, depth: str) -> None:
        """Pack `columns` columns from `column` into the panels from number `place`.

        Where rows are contiguous, several panels at once: a cache line spans several panels.
        """
        parts, text, product = self.parts, self.parts.text, self.parts.product
        form, width = "f32" if self.unit == 1 else "pairs", parts.target.columns
        reader = Reader(product.right, product.k, product.n)
        pack = parts.pack(Pack(reader, form, width=0 if reader.is_transposed else width))
        step = text.index(width if reader.is_transposed else width * _PANELS)
        padded, steps = self._padded(depth)
        panel = text.mul(steps, width)
        with text.loop(text.index(0), columns, step) as first:
            at = {product.k: depth, product.n: text.add(column, first)}
            source = parts.source(product.right, at, product.k, product.n)
            count = text.minimum(text.sub(columns, first), step)
            start = text.mul(text.add(place, text.div(first, width)), panel)
            whole = text.rounded_up(count, width)
            sizes = [start, text.index(width), self.depths(depth), count, padded, whole, panel]
            numbers = [(each, "index") for each in sizes]
            parts.text.call(pack, [*source, (to, "memref<1xi8>"), *numbers])
            if self.places is not None and self.places.seeks("right"):
                with text.loop(text.index(0), text.div(whole, width), text.index(1)) as number:
                    each = text.add(text.add(place, text.div(first, width)), number)
                    self.places.find("right", to, (text.mul(each, panel), panel), each)

    @property
    def group(self) -> int:
        """How much of the summed dimension has results of its own, which are added up."""
        depth = self.parts.target.depth
        return group_size(-(-self.parts.k // depth)) * depth

    def group_sums(self, rows: int, columns: int) -> GroupSums | None:
        """The accumulators of a group of `rows` x `columns` results; None with only one group."""
        return GroupSums(self.parts, rows, columns) if self.group < self.parts.k else None

    def multiply(
        self,
        packed: tuple[str, str],
        place: str,
        sizes: tuple[str, str],
        depth: str,
        group: tuple[GroupSums, str, str] | None,
    ) -> None:
        """Multiply packed rows by packed columns, `sizes` of both, into %c at `place`.

        With a `group`: into its accumulators, at an offset in their buffer, and from there into %c.
        """
        stride = self.parts.out_strides[self.parts.product.m]
        if group is None:
            self._multiply(packed, ("%c", place, stride), sizes, depth, depth)
            return
        text, (sums, buffer, start) = self.parts.text, group
        in_group = text.rem(depth, self.group)
        self._multiply(packed, (buffer, start, sums.stride), sizes, depth, in_group)
        next_ = text.add(depth, self.parts.target.depth)
        is_last = text.value(f"arith.cmpi uge, {next_}, {text.index(self.parts.k)} : index")
        rest = text.rem(next_, self.group)
        is_full = text.value(f"arith.cmpi eq, {rest}, {text.index(0)} : index")
        with text.when(text.value(f"arith.ori {is_last}, {is_full} : i1")):
            number = text.div(depth, self.group)
            sums.add((buffer, start), ("%c", place), (stride, 1), sizes, number)

    def _multiply(
        self,
        packed: tuple[str, str],
        to: tuple[str, str, int],
        sizes: tuple[str, str],
        depth: str,
        accumulates: str,
    ) -> None:
        """Call the micro-kernel; `to` is a buffer, an offset and a row stride."""
        parts, text = self.parts, self.parts.text
        _, steps = self._padded(depth)
        panel = text.mul(steps, parts.target.columns)
        buffer, place, stride = to
        numbers = [place, text.index(stride), *sizes, panel, steps, accumulates]
        buffers = [*((each, "memref<1xi8>") for each in packed), (buffer, "memref<1xf32>")]
        arguments = [*buffers, *((each, "index") for each in numbers)]
        if self.places is not None:
            call_amx(parts, self.places, arguments)
            return
        tile = tile_text("NAME", parts.target, self.form)
        text.call(parts.functions.name_of("tile", tile), arguments)
