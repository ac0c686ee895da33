"""The micro-kernel of a convolution: register tiles that read the left operand in place.

There is no im2col copy: a row of a tile is an offset into the left operand, and the reduction loops
add the same strides to the offset of every row.
"""

import math
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.products.convolution_tiles import ConvolutionTiles
from mlir_fp8.lowering.kernels.products.tile import multiply_add
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.loop_analysis.parallel_loops import PARALLEL

_PARAMETERS = ("a_offset", "c_offset", "depth", "accumulates", "begin", "end")


@dataclass(frozen=True)
class ConvolutionRows:
    """Reduces over `segments`, outer loops of k, and `depth` steps of the innermost one."""

    tiles: ConvolutionTiles
    segments: tuple[int, ...]
    grain: int = 0
    """Grain size: the fewest units per thread; 0 for a serial loop."""

    def text(self, name: str, target: KernelTarget) -> str:
        """The function: the left operand, packed panels of the right one, the result, and sizes.

        `depth` is the trip count of the innermost loop of k. The units [`begin`, `end`) are
        computed; they are added to the result if `accumulates`, where tiles may be. A panel has
        one row of columns per reduction step of all segments.
        """
        return _Writer(self, target).function(name)


class _Writer:
    def __init__(self, kernel: ConvolutionRows, target: KernelTarget) -> None:
        self.kernel, self.tiles, self.target = kernel, kernel.tiles, target
        self.convolution = kernel.tiles.convolution
        self.text = KernelText()
        self.vector = f"vector<{target.lanes}xf32>"
        self.scratch = f"memref<{self.tiles.rows}x{self.tiles.columns}xf32>"

    def function(self, name: str) -> str:
        text, tiles, zero = self.text, self.tiles, self.text.index(0)
        text.line(f"%scratch = memref.alloca() {{alignment = 64 : i64}} : {self.scratch}")
        text.line("%b_bytes = memref.cast %b : memref<1xi8> to memref<?xi8>")
        types = "memref<?xi8> to memref<?xf32>"
        text.line(f"%b_view = memref.view %b_bytes[{zero}][{text.index(1 << 40)}] : {types}")
        for side in "ac":
            text.line(f"%{side}_view = memref.cast %{side} : memref<1xf32> to memref<?xf32>")
        text.line(f"%adds = arith.cmpi ne, %accumulates, {zero} : index")
        segments = math.prod(self.convolution.sizes[d] for d in self.kernel.segments)
        panel_size = text.mul("%depth", segments * tiles.columns)
        with text.loop("%begin", "%end", text.index(1)) as unit:
            block, panel = self._divided(unit, tiles.panels)
            first = text.mul(block, tiles.block)
            end = text.minimum(text.add(first, tiles.block), text.index(tiles.tiles))
            start = text.mul(panel, panel_size)
            column = text.mul(panel, tiles.columns)
            with text.loop(first, end, text.index(1)) as tile:
                self._tile(tile, start, column)
        buffers = [("%a", "memref<1xf32>"), ("%b", "memref<1xi8>"), ("%c", "memref<1xf32>")]
        parameters = [*buffers, *((f"%{each}", "index") for each in _PARAMETERS)]
        grain = self.kernel.grain
        return text.function(name, parameters, f"{PARALLEL} = {grain} : i64, " if grain else "")

    def _divided(self, number: str, by: int) -> tuple[str, str]:
        """The quotient and the remainder."""
        text = self.text
        if by == 1:
            return number, text.index(0)
        quotient = text.value(f"arith.divui {number}, {text.index(by)} : index")
        return quotient, text.sub(number, text.mul(quotient, by))

    def _places(self, tile: str) -> list[tuple[str, str]]:
        """The offset of each row of a tile in the left operand and in the result.

        The last tile of a run overlaps the one before it: its first rows are computed twice.
        """
        text, tiles, m = self.text, self.tiles, self.convolution.m
        outer, number = self._divided(tile, tiles.run)
        first = text.mul(number, tiles.rows)
        if not tiles.along:
            last = text.index(self.convolution.size(m) - 1)
            rows = [text.minimum(text.add(first, row), last) for row in range(tiles.rows)]
            return [self._place(m, row) for row in rows]
        size = self.convolution.sizes[m[-1]]
        first = text.minimum(first, text.index(size - tiles.rows))
        start = self._place(m[:-1], outer)
        return [self._moved(start, m[-1], text.add(first, row)) for row in range(tiles.rows)]

    def _place(self, dimensions: tuple[int, ...], number: str) -> tuple[str, str]:
        """The offsets of an iteration of a loop nest, given its linearized number."""
        place = "%a_offset", "%c_offset"
        for dimension in reversed(dimensions):
            size = self.convolution.sizes[dimension]
            is_first = dimension == dimensions[0]
            number, index = (number, number) if is_first else self._divided(number, size)
            place = self._moved(place, dimension, index)
        return place

    def _moved(self, place: tuple[str, str], dimension: int, index: str) -> tuple[str, str]:
        text = self.text
        leaves = self.convolution.left, self.convolution.out
        left, out = (
            text.add(start, text.mul(index, leaf.strides[dimension]))
            for start, leaf in zip(place, leaves, strict=True)
        )
        return left, out

    def _tile(self, tile: str, panel: str, column: str) -> None:
        text, tiles, n = self.text, self.tiles, self.convolution.n
        places = self._places(tile)
        rows = [left for left, _ in places]
        stride = self.convolution.out.strides[n]
        outs = [text.add(out, text.mul(column, stride)) for _, out in places]
        columns = text.minimum(
            text.sub(text.index(self.convolution.sizes[n]), column), text.index(tiles.columns)
        )
        whole = text.value(f"arith.cmpi eq, {columns}, {text.index(tiles.columns)} : index")
        if stride != 1:
            whole = text.constant("false")
        sums = [text.zeros(self.target.lanes)] * (tiles.rows * tiles.vectors)
        sums = self._nest(list(self.kernel.segments), rows, panel, sums)
        with text.when(whole):
            if tiles.adds:
                with text.when("%adds"):
                    self._store_whole(outs, sums, adds=True)
                    text.otherwise()
                    self._store_whole(outs, sums, adds=False)
            else:
                self._store_whole(outs, sums, adds=False)
            text.otherwise()
            for number, value in enumerate(sums):
                row, vector = divmod(number, tiles.vectors)
                place = f"{text.index(row)}, {text.index(vector * self.target.lanes)}"
                types = f"{self.scratch}, {self.vector}"
                text.line(f"vector.store {value}, %scratch[{place}] : {types}")
            self._store_part(outs, columns)

    def _nest(self, segments: list[int], rows: list[str], panel: str, sums: list[str]) -> list[str]:
        """The loop-carried `sums` after all steps of the loops `segments` and the innermost one."""
        text, leaf = self.text, self.convolution.left
        high = text.index(self.convolution.sizes[segments[0]]) if segments else "%depth"
        dimension = segments[0] if segments else self.convolution.k[-1]
        rest = math.prod(self.convolution.sizes[d] for d in segments[1:])
        steps = text.mul("%depth", rest * self.tiles.columns)
        types = [self.vector] * len(sums)
        with text.fold(text.index(0), high, text.index(1), sums, types) as (i, each, results):
            moved = text.mul(i, leaf.strides[dimension])
            places = [text.add(row, moved) for row in rows]
            if segments:
                start = text.add(panel, text.mul(i, steps))
                each[:] = self._nest(segments[1:], places, start, list(each))
            else:
                self._step(places, text.add(panel, text.mul(i, self.tiles.columns)), each)
        return results

    def _step(self, places: list[str], row: str, sums: list[str]) -> None:
        text, vectors, lanes = self.text, self.tiles.vectors, self.target.lanes
        right = [
            text.value(f"vector.load %b_view[{each}] : memref<?xf32>, {self.vector}")
            for each in (text.add(row, i * lanes) for i in range(vectors))
        ]
        for i, place in enumerate(places):
            one = text.value(f"memref.load %a_view[{place}] : memref<?xf32>")
            left = text.value(f"vector.broadcast {one} : f32 to {self.vector}")
            for j in range(vectors):
                number = i * vectors + j
                sums[number] = multiply_add(
                    text, self.target, left, right[j], sums[number], self.vector
                )

    def _store_whole(self, outs: list[str], sums: list[str], *, adds: bool) -> None:
        """Store a full tile. Its last rows may alias each other: loads come before stores."""
        text, lanes = self.text, self.target.lanes
        places = [text.add(out, i * lanes) for out in outs for i in range(self.tiles.vectors)]
        places = [f"%c_view[{place}] : memref<?xf32>, {self.vector}" for place in places]
        if adds:
            before = [text.value(f"vector.load {place}") for place in places]
            pairs = zip(before, sums, strict=True)
            sums = [text.value(f"arith.addf {old}, {new} : {self.vector}") for old, new in pairs]
        for place, value in zip(places, sums, strict=True):
            text.line(f"vector.store {value}, {place}")

    def _store_part(self, outs: list[str], columns: str) -> None:
        """Store the valid columns of a partial tile, from the scratch buffer."""
        text, stride = self.text, self.convolution.out.strides[self.convolution.n]
        with text.loop(text.index(0), columns, text.index(1)) as column:
            step = text.mul(column, stride)
            places = [f"%c_view[{text.add(out, step)}] : memref<?xf32>" for out in outs]
            values = [
                text.value(f"memref.load %scratch[{text.index(row)}, {column}] : {self.scratch}")
                for row in range(self.tiles.rows)
            ]
            if self.tiles.adds:
                before = [text.value(f"memref.load {place}") for place in places]
                for i, pair in enumerate(zip(before, values, strict=True)):
                    total = text.value(f"arith.addf {', '.join(pair)} : f32")
                    values[i] = text.value(f"arith.select %adds, {total}, {values[i]} : f32")
            for place, value in zip(places, values, strict=True):
                text.line(f"memref.store {value}, {place}")
