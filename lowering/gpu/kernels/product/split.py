"""Sums of a tile that blocks of a cluster share: each has a part of K, and then of the columns.

Every block puts its partial sums into its shared memory. When all have, each adds those of its
share of the columns, from the first block's on, so that a sum is the same whenever it is computed.
Two barriers of a block count warps of the whole cluster: that all partial sums are there, and that
all are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    arrive_in_cluster,
    emit,
    init_barrier,
    load_remote_words,
    store_shared_words,
    wait,
)
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import WARPGROUP, Product
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText

_GROUP = 4
"""Sums that a thread has of eight columns: 16 bytes."""


def part_of_steps(text: GpuText, shape: Product) -> tuple[str, str]:
    """The first tile along K of this block, and how many it has, index."""
    if shape.split == 1:
        return text.index(0), text.index(shape.steps)
    rank = text.rem(text.block(), shape.split)
    first, end = (
        text.div(text.mul(each, shape.steps), shape.split) for each in (rank, text.add(rank, 1))
    )
    if shape.steps % shape.split == 0:
        return first, text.index(shape.steps // shape.split)
    return first, text.sub(end, first)


def make_split_barriers(pipeline: Pipeline[Product]) -> None:
    """By one thread."""
    shape = pipeline.shape
    warps = shape.split * shape.consumers * (WARPGROUP // WARP)
    for number in range(2):
        init_barrier(pipeline.text, pipeline.shared_sums(8 * number), warps)


@dataclass(frozen=True)
class SplitSums:
    """What a thread of a warpgroup that multiplies does; `thread` and `lane` are i32."""

    pipeline: Pipeline[Product]
    thread: str
    lane: str

    def reduced(self, sums: Sequence[str], turn: str) -> list[str]:
        """The sums over K of this block's share of columns; `turn` of tiles, i32, is 0 or 1."""
        text, shape = self.pipeline.text, self.pipeline.shape
        self.wait_read(turn)
        groups = len(sums) // _GROUP
        for i in range(groups):
            store_shared_words(text, self._place(text.i32(i)), sums[_GROUP * i :][:_GROUP])
        self._arrive(0)
        wait(text, self.pipeline.shared_sums(0), turn, scope=".acquire.cluster")
        rank = text.value(f"arith.index_cast {text.rem(text.block(), shape.split)} : index to i32")
        share = groups // shape.split
        first = text.word_op("muli", rank, share)
        places = [self._place(text.word_op("addi", first, i)) for i in range(share)]
        found: list[str] = []
        for block in range(shape.split):
            parts = [x for at in places for x in load_remote_words(text, at, text.i32(block))]
            added = zip(found, parts, strict=True) if found else None
            found = parts if added is None else [
                text.value(f"arith.addf {whole}, {part} : f32") for whole, part in added
            ]  # fmt: skip
        self._arrive(8)
        return found

    def wait_read(self, turn: str) -> None:
        """Until all blocks have read this one's sums of the tile before."""
        text = self.pipeline.text
        before = text.word_op("xori", turn, 1)
        wait(text, self.pipeline.shared_sums(8), before, scope=".acquire.cluster")

    def column(self, column: str) -> str:
        """The first column of this block's share of a tile, index."""
        text, shape = self.pipeline.text, self.pipeline.shape
        rank = text.rem(text.block(), shape.split)
        return text.add(column, text.mul(rank, shape.tile_n // shape.split))

    def _place(self, group: str) -> str:
        """The address of this thread's sums of a group of columns."""
        text, shape = self.pipeline.text, self.pipeline.shape
        at = text.word_op("muli", group, shape.consumers * WARPGROUP)
        at = text.value(f"arith.addi {at}, {self.thread} : i32")
        at = text.word_op("muli", at, 4 * _GROUP)
        return text.value(f"arith.addi {self.pipeline.shared_sums(16)}, {at} : i32")

    def _arrive(self, barrier: int) -> None:
        """A warp at that barrier of each block: what all its threads did comes before."""
        text, shape = self.pipeline.text, self.pipeline.shape
        emit(text, "bar.warp.sync 0xffffffff;")
        first = text.value(f"arith.cmpi ult, {self.lane}, {text.i32(shape.split)} : i32")
        flag = text.value(f"arith.extui {first} : i1 to i32")
        rank = text.word_op("remui", self.lane, shape.split)
        at = self.pipeline.shared_sums(barrier)
        arrive_in_cluster(text, at, rank, flag, ".release.cluster")
