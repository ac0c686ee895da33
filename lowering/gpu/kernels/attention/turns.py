"""Two warpgroups that multiply in turns, so that one computes exponentials meanwhile.

Each has a named barrier: it waits there for its turn, which the other gives it (Shah et al.,
FlashAttention-3, arXiv:2407.08608, 3.1).
"""

from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.product.instructions import emit, word
from mlir_fp8.lowering.gpu.kernels.product.shape import WARPGROUP
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_FIRST = 1
"""Barrier 0 is that of the whole block."""


@dataclass(frozen=True)
class Turns:
    """`group` is the number of this warpgroup among the `count` that multiply, i32."""

    text: GpuText
    count: int
    group: str

    def start(self) -> None:
        """Once, by all: the first turn is that of warpgroup 0."""
        if self.count == 1:
            return
        text = self.text
        is_second = text.value(f"arith.cmpi ne, {self.group}, {text.i32(0)} : i32")
        with text.when(is_second):
            self.give()

    def wait(self) -> None:
        if self.count > 1:
            mine = self.text.word_op("addi", self.group, _FIRST)
            emit(self.text, f"bar.sync $0, {2 * WARPGROUP};", [word(mine)])

    def give(self) -> None:
        if self.count > 1:
            other = self.text.word_op("subi", self.text.i32(_FIRST + 1), self.group)
            emit(self.text, f"bar.arrive $0, {2 * WARPGROUP};", [word(other)])

    def meet(self) -> None:
        """All threads of this warpgroup."""
        mine = self.text.word_op("addi", self.group, _FIRST + 2)
        emit(self.text, f"bar.sync $0, {WARPGROUP};", [word(mine)])
