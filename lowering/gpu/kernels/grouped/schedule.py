"""Which tiles a block has: all of the first group, then of the next, by sizes on the device."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.epilogue import Memory
from mlir_fp8.lowering.gpu.kernels.product.schedule import placed
from mlir_fp8.lowering.gpu.kernels.text import GpuText

ALIGNED = 16
"""Bytes of K that TMA begins at multiples of: one piece of a row, of which a swizzle moves whole
ones. Elsewhere it is an illegal instruction, as seen on an H200."""
_WALK = ("index", "index", "index")
"""A group, how many tiles those before it have, and where its part begins."""


@dataclass(frozen=True)
class Tile:
    """A tile of D, all index: its first row and column, those of a group's matrix where sums are
    ragged; its group and that group's part; and the steps along K, 0 of rows of no group.

    `start` is where the first of these is loaded from, where sums are ragged.
    """

    row: str
    column: str
    group: str
    begin: str
    end: str
    steps: str
    start: str


@dataclass(frozen=True)
class Groups:
    """The groups of a kernel: `sizes` are i32."""

    text: GpuText
    shape: Grouped
    sizes: Memory

    def is_group(self, group: str) -> str:
        """Whether it is none of those behind the last, which all other rows are."""
        return self.text.below(group, self.shape.groups)

    def end(self, group: str, begin: str) -> str:
        """Where the part of a group ends."""
        text, (memory, type_) = self.text, self.sizes
        loaded = text.chosen(
            self.is_group(group),
            "i32",
            lambda: text.value(f"memref.load {memory}[{group}] : {type_}"),
            text.i32(self.shape.size),
        )
        size = text.word_op("minsi", text.word_op("maxsi", loaded, 0), self.shape.size)
        size = text.value(f"arith.index_cast {size} : i32 to index")
        return text.minimum(text.add(begin, size), text.index(self.shape.size))

    def tiles(self, begin: str, end: str) -> str:
        """How many there are of a group."""
        shape = self.shape.product
        if not self.shape.has_ragged_rows:
            return self.text.index(shape.tiles_m * shape.tiles_n)
        return self.text.mul(self._down(begin, end), shape.tiles_n)

    def _down(self, begin: str, end: str) -> str:
        return self.text.divided_up(self.text.sub(end, begin), self.shape.tile_rows)

    def all_tiles(self) -> str:
        text, shape = self.text, self.shape
        if not shape.has_ragged_rows:
            return text.index(shape.groups * shape.product.tiles_m * shape.product.tiles_n)
        zero, one, count = text.index(0), text.index(1), text.index(shape.groups + 1)
        with text.fold(zero, count, one, [zero, zero], _WALK[:2]) as (group, carried, found):
            tiles, begin = carried
            end = self.end(group, begin)
            carried[:] = [text.add(tiles, self.tiles(begin, end)), end]
        return found[0]

    def walked(self, tile: str, walk: Sequence[str]) -> list[str]:
        """From one group to that of `tile`."""
        text = self.text

        def step(at: list[str]) -> tuple[str, list[str]]:
            group, before, begin = at
            end = self.end(group, begin)
            after = text.add(before, self.tiles(begin, end))
            passed = text.value(f"arith.cmpi uge, {tile}, {after} : index")
            following = [text.add(group, 1), after, end]
            return passed, [
                text.value(f"arith.select {passed}, {new}, {old} : index")
                for new, old in zip(following, at, strict=True)
            ]

        return text.repeated(walk, _WALK, step)

    def place(self, tile: str, walk: Sequence[str]) -> Tile:
        """The tile of that number; its group is the one of `walk`."""
        text, shape = self.text, self.shape
        group, before, begin = walk
        end = self.end(group, begin)
        ragged = self._down(begin, end) if shape.has_ragged_rows else None
        down, across = placed(text, shape.product, text.sub(tile, before), ragged)
        start, rank = begin, text.rem(text.block(), shape.product.cluster)
        row = text.mul(text.add(text.mul(down, shape.product.cluster), rank), shape.product.tile_m)
        if shape.has_ragged_rows:
            row = text.add(begin, row)
            steps, none = text.index(shape.product.steps), text.index(0)
            steps = text.value(f"arith.select {self.is_group(group)}, {steps}, {none} : index")
        else:
            start = text.rounded_down(begin, ALIGNED)
            steps = text.divided_up(text.sub(end, start), shape.product.tile_k)
            is_empty = text.value(f"arith.cmpi eq, {begin}, {end} : index")
            steps = text.value(f"arith.select {is_empty}, {text.index(0)}, {steps} : index")
        return Tile(row, text.mul(across, shape.product.tile_n), group, begin, end, steps, start)


@contextlib.contextmanager
def group_tiles(
    groups: Groups, starts: Sequence[str], types: Sequence[str]
) -> Iterator[tuple[Tile, list[str], list[str]]]:
    """A loop over the tiles of this block, with the values that are carried and the results."""
    text, shape = groups.text, groups.shape
    cluster, zero = text.div(text.block(), shape.product.cluster), text.index(0)
    step = text.index(shape.grid // shape.product.cluster)
    starts, types = [zero, zero, zero, *starts], [*_WALK, *types]
    with text.fold(cluster, groups.all_tiles(), step, starts, types) as (tile, carried, results):
        walk, inner = groups.walked(tile, carried[:3]), carried[3:]
        yield groups.place(tile, walk), inner, results[3:]
        carried[:] = [*walk, *inner]
