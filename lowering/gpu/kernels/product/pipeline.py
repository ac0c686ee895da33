"""Stages in shared memory, between the thread that loads and the warpgroups that multiply.

A stage has two barriers: its tiles are full when TMA has written them, and empty when every warp
that multiplies, of the whole cluster, has read them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    arrive,
    arrive_in_cluster,
    init_barrier,
    wait,
)
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, WARPGROUP
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText

STATE = ("i32", "i32")
"""Types of a place in the pipeline: a stage, and the parity of its phase."""


class Stages(Protocol):
    """How many stages there are and how large; `consumers` are warpgroups that read them."""

    @property
    def stages(self) -> int: ...
    @property
    def stage_bytes(self) -> int: ...
    @property
    def consumers(self) -> int: ...
    @property
    def cluster(self) -> int: ...
    @property
    def maps(self) -> int: ...


S = TypeVar("S", bound=Stages)


@dataclass(frozen=True)
class Pipeline(Generic[S]):
    """Where a block's stages, maps and barriers are: `base` is a multiple of 1024, i32."""

    text: GpuText
    shape: S
    base: str

    def _offset(self, bytes_: int) -> str:
        return self.text.word_op("addi", self.base, bytes_)

    def tiles(self, stage: str) -> str:
        """The address of the tile of A, which that of B follows."""
        return self._sum(self.base, self.text.word_op("muli", stage, self.shape.stage_bytes))

    def map_(self, number: int) -> str:
        return self._offset(self.shape.stages * self.shape.stage_bytes + number * MAP)

    def full(self, stage: str) -> str:
        return self._barrier(stage, 0)

    def empty(self, stage: str) -> str:
        return self._barrier(stage, 8 * self.shape.stages)

    def _barrier(self, stage: str, after: int) -> str:
        start = self._offset(
            self.shape.stages * self.shape.stage_bytes + self.shape.maps * MAP + after
        )
        return self._sum(start, self.text.word_op("shli", stage, 3))

    def shared_sums(self, after: int) -> str:
        """The address of two barriers of blocks that share sums, 16 bytes, and of these."""
        shape = self.shape
        at = shape.stages * shape.stage_bytes + shape.maps * MAP + 16 * shape.stages
        return self._offset(at + after)

    def _sum(self, left: str, right: str) -> str:
        return self.text.value(f"arith.addi {left}, {right} : i32")

    def make_barriers(self) -> None:
        """By one thread."""
        shape = self.shape
        readers = shape.consumers * (WARPGROUP // WARP) * shape.cluster
        for stage in range(shape.stages):
            init_barrier(self.text, self.full(self.text.i32(stage)), 1)
            init_barrier(self.text, self.empty(self.text.i32(stage)), readers)

    def start(self) -> list[str]:
        return [self.text.i32(0), self.text.i32(0)]

    def next(self, state: Sequence[str]) -> list[str]:
        text = self.text
        stage = text.word_op("addi", state[0], 1)
        wraps = text.value(f"arith.cmpi eq, {stage}, {text.i32(self.shape.stages)} : i32")
        stage = text.value(f"arith.select {wraps}, {text.i32(0)}, {stage} : i32")
        bit = text.value(f"arith.extui {wraps} : i1 to i32")
        return [stage, text.word_op("xori", state[1], bit)]

    def wait_full(self, state: Sequence[str]) -> None:
        wait(self.text, self.full(state[0]), state[1])

    def wait_empty(self, state: Sequence[str]) -> None:
        """The first time through, at once: the phase before the first has ended."""
        wait(self.text, self.empty(state[0]), self.text.word_op("xori", state[1], 1))

    def release(self, stage: str, lane: str, condition: str | None = None) -> None:
        """By all lanes of a warp, i32, where `condition`, i1, holds: it has read the stage."""
        text, cluster = self.text, self.shape.cluster
        first = text.value(f"arith.cmpi ult, {lane}, {text.i32(cluster)} : i32")
        flag = text.both(condition, first)
        flag = text.value(f"arith.extui {flag} : i1 to i32")
        if cluster == 1:
            arrive(text, self.empty(stage), flag)
        else:
            # A lane has the block of its number; others map the address to one that exists.
            rank = text.word_op("remui", lane, cluster)
            arrive_in_cluster(text, self.empty(stage), rank, flag)
