"""`quantize_transpose`: codes of a matrix, of its transpose, and its amax, in one read.

A block has a tile of the matrix; a thread eight rows of one 16-byte load each. It stores its codes
row by row, permutes their bytes in registers, so that a word has four rows of one column, and puts
them into shared memory column by column. From there threads store 16 bytes along the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import (
    ELEMENTS,
    common_piece,
    keep_maximum,
    larger,
    largest,
    store_bytes,
)
from mlir_fp8.lowering.gpu.kernels.prologue import Prologue, Site, Tensor
from mlir_fp8.lowering.gpu.kernels.scaling import Divisor, divisor, quantized
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

ROWS = 8
"""Of a thread: what one access of shared memory has of a column, in bytes."""
_STORE = 16


@dataclass(frozen=True)
class QuantizeTranspose:
    """A matrix `rows` x `columns` to `format`; pointers of the kernel:

    x, scale (f32), with `amax` an f32 as in `Quantize`; then results: with `plain` the codes of x,
    those of its transpose, with `amax` the same f32. A block has `tile_rows` x `tile_columns`. With
    a `prologue` its inputs are in the place of x, which it computes, of `element`.
    """

    rows: int
    columns: int
    element: str = "bf16"
    format: str = "f8E4M3FN"
    amax: bool = True
    plain: bool = True
    division: str = "branch"
    tile_rows: int = 128
    tile_columns: int = 128
    blocks: int = 0
    paired: bool = False
    """Whether neighbours exchange codes, so that those of x are stored by 16 bytes too."""
    prologue: Prologue | None = None

    @property
    def threads(self) -> int:
        return self.tile_rows // ROWS * self.across

    @property
    def across(self) -> int:
        """Threads side by side in a tile."""
        return self.tile_columns // ELEMENTS[self.element].lanes

    def check(self) -> None:
        """Refuse tiles whose accesses of shared memory are not those of this kernel."""
        is_good = self.tile_rows % 128 == 0 and self.across in (8, 16, 32, 64)
        if self.paired and (ELEMENTS[self.element].lanes != _STORE // 2 or self.columns % _STORE):
            raise Fp8Error(f"no pairs of {self.columns} columns of {self.element}")
        if not is_good or not WARP <= self.threads <= 1024:
            raise Fp8Error(f"no tile of {self.tile_rows} x {self.tile_columns} {self.element}")


def quantize_transpose_kernel(shape: QuantizeTranspose, name: str = "quantize_transpose") -> Kernel:
    shape.check()
    tile = _Tile(shape)
    return tile.kernel(name)


class _Tile:
    """The kernel while it is written."""

    def __init__(self, shape: QuantizeTranspose) -> None:
        self.shape, self.text = shape, GpuText()
        self.element = ELEMENTS[shape.element]
        size = shape.rows * shape.columns
        self.x = Tensor(self.text, shape.rows, shape.columns, shape.element, shape.prologue)
        self.q, self.qt = ("%q", f"memref<{size}xi8>"), ("%qt", f"memref<{size}xi8>")

    def kernel(self, name: str) -> Kernel:
        text, shape = self.text, self.shape
        before, amax = ("%before", "memref<1xi32>"), ("%amax", "memref<1xi32>")
        parameters = [*self.x.parameters, ("%scale", "memref<1xf32>")]
        parameters += [before] * shape.amax + [self.q] * shape.plain + [self.qt]
        parameters += [amax] * shape.amax
        thread = text.thread()
        scale = text.value(f"memref.load %scale[{text.index(0)}] : memref<1xf32>")
        self.row0 = text.mul(text.block("y"), shape.tile_rows)
        self.column0 = text.mul(text.block("x"), shape.tile_columns)
        self.across, down = text.rem(thread, shape.across), text.div(thread, shape.across)
        self.row = text.add(self.row0, text.mul(down, ROWS))
        self.column = text.add(self.column0, text.mul(self.across, self.element.lanes))
        vectors = self.x.vectors(self._site(i) for i in range(ROWS))
        by = divisor(text, scale, shape.division)
        rows, magnitudes = self._quantized(vectors, by)
        memory = text.shared("tile", shape.tile_rows * shape.tile_columns, "i8")
        self._store_columns(rows, down, memory)
        if magnitudes is None:
            text.barrier()
        else:
            word = largest(text, self.element, magnitudes, self.element.lanes)
            keep_maximum(text, word, shape.threads, thread, "%amax")  # with its barrier
            if shape.threads == WARP:
                text.barrier()
        self._store_transpose(thread, memory)
        grid = (-(-shape.columns // shape.tile_columns), -(-shape.rows // shape.tile_rows))
        body = text.kernel(name, parameters, shape.threads, shape.blocks)
        return Kernel(name, body, grid, shape.threads)

    def _conditions(
        self, places: Sequence[str], limit: int, tile: int, also: str | None = None
    ) -> list[str | None]:
        """Whether each place is in the matrix; None where all of its tiles are."""
        if limit % tile == 0:
            return [also] * len(places)
        return [self.text.both(also, self.text.below(at, limit)) for at in places]

    def _pieces(self, row: str, lanes: int) -> tuple[int, list[str | None]]:
        """The pieces of a thread's part of a row, and where they are in the matrix."""
        shape = self.shape
        piece = common_piece(shape.columns, lanes)
        (inside,) = self._conditions([row], shape.rows, shape.tile_rows)
        places = [self.text.add(self.column, i) for i in range(0, lanes, piece)]
        return piece, self._conditions(places, shape.columns, shape.tile_columns, inside)

    def _site(self, index: int) -> Site:
        row = self.text.add(self.row, index)
        place = self.text.add(self.text.mul(row, self.shape.columns), self.column)
        _, conditions = self._pieces(row, self.element.lanes)
        return Site(place, row, self.column, conditions)

    def _quantized(self, vectors: list[str], by: Divisor) -> tuple[list[list[str]], str | None]:
        """The words of each row, four columns each, which are stored; and the magnitudes."""
        text, shape, lanes = self.text, self.shape, self.element.lanes
        rows = quantized(text, self.element, vectors, lanes, by, shape.format)
        magnitudes: str | None = None
        for index, vector in enumerate(vectors):
            if shape.amax:
                magnitudes = larger(text, self.element, magnitudes, vector, lanes)
            if shape.plain and not shape.paired:
                row = text.add(self.row, index)
                piece, conditions = self._pieces(row, lanes)
                place = text.add(text.mul(row, shape.columns), self.column)
                store_bytes(text, self.q, place, rows[index], piece, conditions)
        if shape.plain and shape.paired:
            self._store_pairs(rows)
        return rows, magnitudes

    def _store_pairs(self, rows: list[list[str]]) -> None:
        """Store rows by 16 bytes: the first of two neighbours even ones, the second odd ones."""
        text, shape = self.text, self.shape
        bit = text.value(f"arith.andi {self.across}, {text.index(1)} : index")
        is_second = text.same(bit, 1)
        column = text.sub(self.column, text.mul(bit, self.element.lanes))
        for index in range(0, ROWS, 2):
            even, odd = rows[index : index + 2]
            other = [
                text.shuffled(self._either(is_second, low, high), 1)
                for low, high in zip(even, odd, strict=True)
            ]
            first = [self._either(is_second, *each) for each in zip(other, even, strict=True)]
            second = [self._either(is_second, *each) for each in zip(odd, other, strict=True)]
            row = text.add(text.add(self.row, index), bit)
            (inside,) = self._conditions([row], shape.rows, shape.tile_rows)
            conditions = self._conditions([column], shape.columns, shape.tile_columns, inside)
            place = text.add(text.mul(row, shape.columns), column)
            store_bytes(text, self.q, place, [*first, *second], _STORE, conditions)

    def _either(self, condition: str, word: str, other: str) -> str:
        return self.text.value(f"arith.select {condition}, {word}, {other} : i32")

    def _swizzle(self, across: str) -> str:
        """What the eight bytes of a thread move by within a column, so that the accesses of half a
        warp are to different banks: a column is 128 bytes, all banks once, or a multiple."""
        text, shape = self.text, self.shape
        if shape.across < 16:
            return text.mul(across, 16 // shape.across)
        return text.rem(across, 16)

    def _store_columns(self, rows: list[list[str]], down: str, memory: tuple[str, str]) -> None:
        """Put eight rows of each column into shared memory."""
        text, shape, lanes = self.text, self.shape, self.element.lanes
        moved = text.value(f"arith.xori {down}, {self._swizzle(self.across)} : index")
        place = text.add(text.mul(self.across, lanes * shape.tile_rows), text.mul(moved, ROWS))
        for group in range(lanes // 4):
            upper, lower = (
                transposed(text, [row[group] for row in rows[start : start + 4]])
                for start in (0, 4)
            )
            for i, words in enumerate(zip(upper, lower, strict=True)):
                at = text.add(place, (4 * group + i) * shape.tile_rows)
                store_bytes(text, memory, at, words, ROWS, [None])

    def _store_transpose(self, thread: str, memory: tuple[str, str]) -> None:
        """Store the tile along its columns, 16 bytes from each thread at a time."""
        text, shape = self.text, self.shape
        parts = shape.tile_rows // _STORE  # of a column
        part, column = text.rem(thread, parts), text.div(thread, parts)
        step = shape.threads // parts
        lanes = self.element.lanes
        row = text.add(self.row0, text.mul(part, _STORE))
        piece = common_piece(shape.rows, _STORE)
        for first in range(0, shape.tile_columns, step):
            own = text.add(column, first)
            swizzle = self._swizzle(text.div(own, lanes))
            bit = text.value(f"arith.andi {swizzle}, {text.index(1)} : index")
            even = text.sub(swizzle, bit)
            moved = text.value(f"arith.xori {text.mul(part, 2)}, {even} : index")
            at = text.add(text.mul(own, shape.tile_rows), text.mul(moved, ROWS))
            words = self._read(memory, at, text.same(bit, 1))
            target = text.add(self.column0, own)
            (inside,) = self._conditions([target], shape.columns, shape.tile_columns)
            places = [text.add(row, i) for i in range(0, _STORE, piece)]
            conditions = self._conditions(places, shape.rows, shape.tile_rows, inside)
            place = text.add(text.mul(target, shape.rows), row)
            store_bytes(text, self.qt, place, words, piece, conditions)

    def _read(self, memory: tuple[str, str], place: str, is_swapped: str) -> list[str]:
        """16 bytes of shared memory as words, the halves swapped where the swizzle is odd."""
        text = self.text
        name, of = memory
        type_ = f"vector<{_STORE}xi8>"
        loaded = text.value(
            f"vector.load {name}[{place}] {{alignment = {_STORE} : i64}} : {of}, {type_}"
        )
        words = text.words(loaded, type_, 4)
        return [
            text.value(f"arith.select {is_swapped}, {words[i ^ 2]}, {words[i]} : i32")
            for i in range(4)
        ]


def transposed(text: GpuText, rows: Sequence[str]) -> list[str]:
    """Four words of four bytes each, transposed."""
    low = [text.permuted(rows[i], rows[i + 1], 0x5140) for i in (0, 2)]
    high = [text.permuted(rows[i], rows[i + 1], 0x7362) for i in (0, 2)]
    return [
        text.permuted(pair[0], pair[1], selector)
        for pair in (low, high)
        for selector in (0x5410, 0x7632)
    ]
