"""The micro-kernel: multiplies packed blocks, one register tile of the result at a time."""

import contextlib
from collections.abc import Iterator

from mlir_fp8.lowering.kernels.products.packed_form import UNITS
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

UNROLL = 4
"""The unroll factor of the innermost loop; reductions are padded to a multiple."""
_SIZES = ("c_offset", "c_stride", "rows", "columns", "panel", "depth", "accumulates")


def left_stride(target: KernelTarget, form: str) -> int:
    """Elements from one packed row of the left operand to the next.

    An odd number of cache lines, so that the rows of a tile map to different cache sets.
    """
    line = 16 * UNITS[form]
    return (-(-target.depth // line) | 1) * line


def tile_text(name: str, target: KernelTarget, form: str) -> str:
    """The function: packed operands, the f32 result, then `_SIZES`.

    `panel` is the size of a packed panel in elements; `depth` counts reduction steps, of
    `packed_form.UNITS` each. The tile is added to the result if `accumulates`.
    """
    return Tile(target, form).function(name)


class Tile:
    """The function while it is written."""

    def __init__(self, target: KernelTarget, form: str) -> None:
        self.target, self.form, self.text = target, form, KernelText()
        self.element = "f32" if form == "f32" else "i32"
        self.total = "i32" if form in ("i8", "i16") else "f32"
        self.vector = f"vector<{target.lanes}x{self.total}>"
        self.stride = left_stride(target, form) // UNITS[form]

    @property
    def right_element(self) -> str:
        """What the right operand is in memory."""
        return self.element

    @property
    def attributes(self) -> str:
        """What the function is marked with: attributes that end in commas."""
        return ""

    @contextlib.contextmanager
    def prepared(self) -> Iterator[None]:
        """Code emitted inside multiplies."""
        yield

    def function(self, name: str) -> str:
        text, target = self.text, self.target
        zero, big = text.index(0), text.index(1 << 40)
        self.scratch = f"memref<{target.rows}x{target.columns}x{self.total}>"
        text.line(f"%scratch = memref.alloca() {{alignment = 64 : i64}} : {self.scratch}")
        for side, element in (("a", self.element), ("b", self.right_element)):
            text.line(f"%{side}_bytes = memref.cast %{side} : memref<1xi8> to memref<?xi8>")
            types = f"memref<?xi8> to memref<?x{element}>"
            text.line(f"%{side}_view = memref.view %{side}_bytes[{zero}][{big}] : {types}")
        text.line(f"%c_view = memref.cast %c : memref<1x{self.total}> to memref<?x{self.total}>")
        text.line(f"%adds = arith.cmpi ne, %accumulates, {zero} : index")
        columns = text.index(target.columns)
        with self.prepared(), text.loop(zero, "%columns", columns) as column:
            number = text.value(f"arith.divui {column}, {text.index(target.columns)} : index")
            panel = text.mul(number, "%panel")
            with text.loop(zero, "%rows", text.index(target.rows)) as row:
                self._prefetch(row, column)
                self._store(row, column, self.sums(row, panel))
        parameters = [
            ("%a", "memref<1xi8>"),
            ("%b", "memref<1xi8>"),
            ("%c", f"memref<1x{self.total}>"),
        ]
        parameters += [(f"%{each}", "index") for each in _SIZES]
        return text.function(name, parameters, self.attributes)

    def _prefetch(self, row: str, column: str) -> None:
        """Prefetch the tile's cache lines of the result, which are stored after the reduction."""
        text = self.text
        for i in range(self.target.rows):
            place = text.add(self._start(text.add(row, i)), column)
            text.line(
                f"memref.prefetch %c_view[{place}], write, locality<3>, data"
                f" : memref<?x{self.total}>"
            )

    def _start(self, row: str) -> str:
        """The offset of a row of the result."""
        return self.text.add("%c_offset", self.text.mul(row, "%c_stride"))

    def sums(self, row: str, panel: str) -> list[str]:
        """The vectors of the tile's results, one row after the other."""
        text, target = self.text, self.target
        places = self.rows_at(row)
        zeros = [text.zeros(target.lanes, self.total)] * (target.rows * target.vectors)
        types = [self.vector] * len(zeros)
        with text.fold(text.index(0), "%depth", text.index(UNROLL), zeros, types) as fold:
            depth, sums, results = fold
            along = self.along(depth)
            for step in range(UNROLL):
                at = text.add(depth, step), text.add(along, step)
                self._step(at, places, panel, sums)
        return results

    def rows_at(self, row: str) -> list[str]:
        """Where the packed rows of the tile begin."""
        start = self.text.mul(row, self.stride)
        return [self.text.add(start, i * self.stride) for i in range(self.target.rows)]

    def along(self, depth: str) -> str:
        """How far from there what is multiplied at `depth`, of `UNROLL` steps, begins."""
        return depth

    def _step(
        self, at: tuple[str, str], rows: list[str], panel: str, sums: list[str]
    ) -> list[tuple[str, ...]]:
        """Add one step to the sums; gives the operands on the right."""
        text, target, (depth, along) = self.text, self.target, at
        vector = f"vector<{target.lanes}x{self.element}>"
        place = text.add(panel, text.mul(depth, target.columns))
        right = [self.operand(each) for each in self.rights(place)]
        for i, row in enumerate(rows):
            each = text.add(row, along)
            one = text.value(f"memref.load %a_view[{each}] : memref<?x{self.element}>")
            one = self.scalar(one)
            left = self.operand(text.value(f"vector.broadcast {one} : {self.element} to {vector}"))
            for j in range(target.vectors):
                number = i * target.vectors + j
                sums[number] = self.added(left, right[j], sums[number])
        return right

    def rights(self, place: str) -> list[str]:
        """The vectors of a line of a panel."""
        text, target = self.text, self.target
        vector = f"vector<{target.lanes}x{self.element}>"
        return [
            text.value(f"vector.load %b_view[{each}] : memref<?x{self.element}>, {vector}")
            for each in (text.add(place, i * target.lanes) for i in range(target.vectors))
        ]

    def scalar(self, word: str) -> str:
        """A word of the left operand, as it is multiplied."""
        return word

    def operand(self, value: str) -> tuple[str, ...]:
        """A vector of what is packed, as `added` takes it."""
        if self.form == "f32":
            return (value,)
        lanes = self.target.lanes
        pairs = self.text.value(
            f"vector.bitcast {value} : vector<{lanes}xi32> to vector<{2 * lanes}xbf16>"
        )
        return (pairs,)

    def added(self, left: tuple[str, ...], right: tuple[str, ...], total: str) -> str:
        """The products of two operands, added to `total`."""
        (a,), (b,) = left, right
        if self.form == "f32":
            return multiply_add(self.text, self.target, a, b, total, self.vector)
        pairs = f"vector<{2 * self.target.lanes}xbf16>"
        return self.text.value(f"x86.avx512.dot {total}, {a}, {b} : {pairs} -> {self.vector}")

    def _store(self, row: str, column: str, sums: list[str]) -> None:
        """Store the tile; a partial tile at the edge goes through a scratch buffer."""
        text, target = self.text, self.target
        rows = text.minimum(text.sub("%rows", row), text.index(target.rows))
        columns = text.minimum(text.sub("%columns", column), text.index(target.columns))
        size = text.mul(rows, columns)
        whole = text.index(target.rows * target.columns)
        is_whole = text.value(f"arith.cmpi eq, {size}, {whole} : index")
        start = text.add(self._start(row), column)
        with text.when(is_whole):
            with text.when("%adds"):
                self._store_whole(start, sums, adds=True)
                text.otherwise()
                self._store_whole(start, sums, adds=False)
            text.otherwise()
            for number, each in enumerate(sums):
                i, j = divmod(number, target.vectors)
                place = f"{text.index(i)}, {text.index(j * target.lanes)}"
                text.line(f"vector.store {each}, %scratch[{place}] : {self.scratch}, {self.vector}")
            store_part(text, self.scratch, start, rows, columns, self.total)

    def _store_whole(self, start: str, sums: list[str], *, adds: bool) -> None:
        text, target = self.text, self.target
        for number, value in enumerate(sums):
            i, j = divmod(number, target.vectors)
            place = text.add(start, text.mul(text.index(i), "%c_stride"))
            place = text.add(place, j * target.lanes)
            types = f"memref<?x{self.total}>, {self.vector}"
            if adds:
                before = text.value(f"vector.load %c_view[{place}] : {types}")
                value = text.value(f"arith.add{self.total[0]} {before}, {value} : {self.vector}")
            text.line(f"vector.store {value}, %c_view[{place}] : {types}")


def store_part(
    text: KernelText, scratch: str, start: str, rows: str, columns: str, total: str = "f32"
) -> None:
    """Part of the tile in %scratch, of type `scratch`, to the result from `start` on."""
    view = f"memref<?x{total}>"
    zero, one = text.index(0), text.index(1)
    with text.loop(zero, rows, one) as i:
        line = text.add(start, text.mul(i, "%c_stride"))
        with text.loop(zero, columns, one) as j:
            place = text.add(line, j)
            value = text.value(f"memref.load %scratch[{i}, {j}] : {scratch}")
            before = text.value(f"memref.load %c_view[{place}] : {view}")
            both = text.value(f"arith.add{total[0]} {before}, {value} : {total}")
            value = text.value(f"arith.select %adds, {both}, {value} : {total}")
            text.line(f"memref.store {value}, %c_view[{place}] : {view}")


def multiply_add(
    text: KernelText, target: KernelTarget, left: str, right: str, total: str, vector: str
) -> str:
    """`left * right + total` on f32 vectors, fused where the target has FMA."""
    if target.fma:
        return text.value(f"vector.fma {left}, {right}, {total} : {vector}")
    product = text.value(f"arith.mulf {left}, {right} : {vector}")
    return text.value(f"arith.addf {product}, {total} : {vector}")
