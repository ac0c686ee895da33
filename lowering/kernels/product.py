"""The function of one product: loops over blocks, which pack them and call the tile kernel."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contraction import Contraction
from mlir_fp8.lowering.kernels.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.functions import KernelFunctions
from mlir_fp8.lowering.kernels.pack import Pack
from mlir_fp8.lowering.kernels.reader import Reader
from mlir_fp8.lowering.kernels.skinny import KERNEL_ROWS, MAX_ROWS, Skinny
from mlir_fp8.lowering.kernels.target import KernelTarget
from mlir_fp8.lowering.kernels.text import KernelText
from mlir_fp8.lowering.kernels.tile import DEPTH, UNROLL, left_stride, tile_text

_TILES_PER_BLOCK = 12
"""Tiles of rows in a block of the left operand, which stays in the second cache."""
_FEW_ROWS = 96
_FEW_COLUMNS, _MANY_COLUMNS = 192, 1536  # multiples of the columns of every tile
_SUMMED_COLUMNS, _ADDED_COLUMNS = 64, 4096


@dataclass(frozen=True)
class ProductFunction:
    """Its name, and the sizes in bytes of the buffers for packed operands that it takes last.

    Before these come the leaves of both operands and the result.
    """

    name: str
    scratch: tuple[int, ...]


def product_function(
    product: Contraction, target: KernelTarget, functions: KernelFunctions
) -> ProductFunction:
    """Make the function of `product`, which is `oriented`, and the kernels that it calls."""
    is_skinny = product.sizes[product.m] <= MAX_ROWS and _suits_skinny(product)
    return _Writer(product, target, functions).function(is_skinny)


def oriented(product: Contraction) -> Contraction:
    """With the sides so that the kernels suit: few rows, else a result contiguous along n."""
    m, n = product.sizes[product.m], product.sizes[product.n]
    if n <= MAX_ROWS and n < m and _suits_skinny(product.swapped()):
        return product.swapped()
    if m <= MAX_ROWS and _suits_skinny(product):
        return product
    strides = product.out.strides
    swaps = strides[product.m] == 1 and strides[product.n] != 1
    return product.swapped() if swaps else product


def _suits_skinny(product: Contraction) -> bool:
    """The right operand is contiguous along the sum, or along the columns with the result."""
    reader = Reader(product.right, product.k, product.n)
    return reader.is_transposed or product.out.strides[product.n] in (0, 1)


class _Writer:
    def __init__(
        self, product: Contraction, target: KernelTarget, functions: KernelFunctions
    ) -> None:
        self.product, self.target, self.functions = product, target, functions
        self.text = KernelText()
        self.m, self.n, self.k = (product.sizes[d] for d in (product.m, product.n, product.k))
        left, right = len(product.left.leaves), len(product.right.leaves)
        self.left = [f"%p{i}" for i in range(left)]
        self.right = [f"%p{i}" for i in range(left, left + right)]

    def function(self, is_skinny: bool) -> ProductFunction:
        text, product = self.text, self.product
        offsets = [text.index(leaf.offset) for leaf in self._leaves()]
        self._outer(list(product.outer), offsets, is_skinny)
        sizes = self._skinny_scratch() if is_skinny else self._scratch()
        types = [f"memref<1x{leaf.element}>" for leaf in self._leaves()]
        names = [*self.left, *self.right, "%c"]
        scratch = [(f"%t{i}", "memref<1xi8>") for i in range(len(sizes))]
        whole = text.function("NAME", [*zip(names, types, strict=True), *scratch])
        return ProductFunction(self.functions.name_of("product", whole), sizes)

    def _leaves(self) -> list[Leaf]:
        return [*self.product.left.leaves, *self.product.right.leaves, self.product.out]

    def _outer(self, dimensions: list[int], offsets: list[str], is_skinny: bool) -> None:
        text = self.text
        if not dimensions:
            inner = self._skinny if is_skinny else self._blocks
            count = len(self.left)
            inner(offsets[:count], offsets[count:-1], offsets[-1])
            return
        first, *rest = dimensions
        size = text.index(self.product.sizes[first])
        with text.loop(text.index(0), size, text.index(1)) as i:
            moved = [
                text.add(offset, text.mul(i, leaf.strides[first]))
                for offset, leaf in zip(offsets, self._leaves(), strict=True)
            ]
            self._outer(rest, moved, is_skinny)

    @property
    def _form(self) -> str:
        """bf16 where both operands are codes, but of f8E8M0FNU: its 2^-127 would count as zero."""
        formats = [side.decoded_format() for side in (self.product.left, self.product.right)]
        exact = all(fmt is not None and fmt.has_zero for fmt in formats)
        return "bf16" if exact and self.target.pair_dots else "f32"

    @property
    def _unit(self) -> int:
        """Elements of the sum in a step of the tile kernel."""
        return 1 if self._form == "f32" else 2

    def _padded_depth(self) -> int:
        step = UNROLL * self._unit
        return -(-min(self.k, DEPTH) // step) * step

    def _scratch(self) -> tuple[int, int]:
        size = 4 // self._unit
        rows = min(-(-self.m // self.target.rows), _TILES_PER_BLOCK) * self.target.rows
        return (
            rows * left_stride(self._form) * size,
            self._column_step() * self._padded_depth() * size,
        )

    def _blocks(self, left: list[str], right: list[str], out: str) -> None:
        text, target, product = self.text, self.target, self.product
        zero, unit = text.index(0), self._unit
        m, n, k = (text.index(each) for each in (self.m, self.n, self.k))
        row_step = _TILES_PER_BLOCK * target.rows
        forms = ("f32", "f32") if unit == 1 else ("bf16", "pairs")
        pack_left = self._pack(Reader(product.left, product.m, product.k), forms[0])
        pack_right = self._pack(Reader(product.right, product.k, product.n), forms[1])
        tile = self.functions.name_of("tile", tile_text("NAME", target, self._form))
        row_stride = product.out.strides[product.m]
        with text.loop(zero, n, text.index(self._column_step())) as first_column:
            columns = text.minimum(text.sub(n, first_column), text.index(self._column_step()))
            with text.loop(zero, k, text.index(DEPTH)) as depth:
                depths = text.minimum(text.sub(k, depth), text.index(DEPTH))
                padded = text.rounded_up(depths, UNROLL * unit)
                steps = padded
                if unit == 2:
                    steps = text.value(f"arith.divui {padded}, {text.index(2)} : index")
                with text.loop(zero, columns, text.index(target.columns)) as column:
                    place = {product.k: depth, product.n: text.add(first_column, column)}
                    source = self._source(
                        self.right, product.right, right, place, product.k, product.n
                    )
                    width = text.index(target.columns)
                    count = text.minimum(text.sub(columns, column), width)
                    sizes = [text.mul(column, steps), width, depths, count, padded, width]
                    self._call(pack_right, source, ["%t1"], sizes)
                with text.loop(zero, m, text.index(row_step)) as row:
                    rows = text.minimum(text.sub(m, row), text.index(row_step))
                    place = {product.m: row, product.k: depth}
                    source = self._source(
                        self.left, product.left, left, place, product.m, product.k
                    )
                    padded_rows = text.rounded_up(rows, target.rows)
                    stride = text.index(left_stride(self._form))
                    self._call(
                        pack_left,
                        source,
                        ["%t0"],
                        [zero, stride, rows, depths, padded_rows, padded],
                    )
                    start = text.add(out, text.mul(row, row_stride))
                    start = text.add(start, text.mul(first_column, product.out.strides[product.n]))
                    panel = text.mul(steps, target.columns)
                    sizes = [start, text.index(row_stride), rows, columns, panel, steps, depth]
                    self._call(tile, [], ["%t0", "%t1", "%c"], sizes)

    def _column_step(self) -> int:
        """Columns of a packed block of the right operand: it stays in the last cache.

        For each of them the left operand is packed again, which few rows make cheap.
        """
        most = _FEW_COLUMNS if self.m <= _FEW_ROWS else _MANY_COLUMNS
        columns = -(-self.n // self.target.columns) * self.target.columns
        return min(columns, most)

    def _pack(self, reader: Reader, form: str, factor: float = 1.0) -> str:
        text = Pack(reader, form, factor).text("NAME", self.target)
        return self.functions.name_of("pack", text)

    def _moved_factor(self) -> float:
        """The right operand's last factor where the left one takes it without rounding."""
        fmt = self.product.left.decoded_format()
        if fmt is None or not fmt.has_zero:
            return 1.0
        return self.product.right.factor(self.target)

    def _source(
        self,
        names: list[str],
        side: Expression,
        offsets: list[str],
        at: dict[int, str],
        outer: int,
        inner: int,
    ) -> list[tuple[str, str]]:
        """Arguments for a `Reader`, with their types."""
        text = self.text
        found = []
        for name, leaf, offset in zip(names, side.leaves, offsets, strict=True):
            for dimension, index in at.items():
                if leaf.strides[dimension]:
                    offset = text.add(offset, text.mul(index, leaf.strides[dimension]))
            found += [(name, f"memref<1x{leaf.element}>"), (offset, "index")]
            found += [(text.index(leaf.strides[d]), "index") for d in (outer, inner)]
        return found

    def _call(
        self, name: str, source: list[tuple[str, str]], buffers: list[str], sizes: list[str]
    ) -> None:
        kinds = [(each, "memref<1xf32>" if each == "%c" else "memref<1xi8>") for each in buffers]
        arguments = [*source, *kinds, *((size, "index") for size in sizes)]
        values = ", ".join(value for value, _ in arguments)
        types = ", ".join(type_ for _, type_ in arguments)
        self.text.line(f"func.call @{name}({values}) : ({types}) -> ()")

    def _skinny_scratch(self) -> tuple[int]:
        return (self.m * self.k * 4,)

    def _skinny(self, left: list[str], right: list[str], out: str) -> None:
        text, product = self.text, self.product
        zero, (m, n, k) = text.index(0), (text.index(each) for each in (self.m, self.n, self.k))
        factor = self._moved_factor()
        pack = self._pack(Reader(product.left, product.m, product.k), "f32", factor)
        source = self._source(self.left, product.left, left, {}, product.m, product.k)
        self._call(pack, source, ["%t0"], [zero, k, m, k, m, k])
        outer, inner = product.k, product.n
        sums_inner = Reader(product.right, outer, inner).is_transposed
        if sums_inner:
            outer, inner = inner, outer
        reader = Reader(product.right, outer, inner)
        strides = product.out.strides
        step = text.index(_SUMMED_COLUMNS if sums_inner else _ADDED_COLUMNS)
        with text.loop(zero, n, step) as column:
            columns = text.minimum(text.sub(n, column), step)
            source = self._source(
                self.right, product.right, right, {product.n: column}, outer, inner
            )
            start = text.add(out, text.mul(column, strides[product.n]))
            for first in range(0, self.m, KERNEL_ROWS):
                rows = min(KERNEL_ROWS, self.m - first)
                kernel = Skinny(reader, rows, sums_inner, factor == 1.0).text("NAME", self.target)
                place = text.add(start, first * strides[product.m])
                steps = [text.index(strides[product.m]), text.index(strides[product.n])]
                sizes = [text.index(first * self.k), k, place, *steps, columns, k]
                self._call(self.functions.name_of("skinny", kernel), source, ["%t0", "%c"], sizes)
