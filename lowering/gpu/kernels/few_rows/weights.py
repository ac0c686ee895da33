"""Codes of weights on their way through shared memory: each thread fetches what it multiplies.

A thread waits for its own copies alone, so that no barrier stops the stream of them.
"""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.elements import load
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import (
    commit_copies,
    copy_async,
    load_words,
    store_words,
)
from mlir_fp8.lowering.gpu.kernels.few_rows.layouts import KMajor, NMajor
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.text import GpuText


class Weights:
    """The loads of one thread."""

    def __init__(
        self, text: GpuText, shape: FewRows, memory: tuple[str, str], column: str, slot: str
    ) -> None:
        """`column` is the thread's first; `slot` where its first load goes, i32."""
        self.text, self.shape, self.memory, self.slot = text, shape, memory, slot
        self.layout = (KMajor if shape.k_major else NMajor)(text, shape, column)
        name, type_ = memory
        self.base = text.value(f"memref.extract_aligned_pointer_as_index {name} : {type_} -> index")

    def fetch(self, first: str, end: str, stage: str) -> None:
        """Begin the loads of 16 elements of K from `first` on, zeros from `end` on.

        `stage` is an offset, i32. They are a group of copies.
        """
        text = self.text
        slot = text.word_op("addi", self.slot, stage)
        for number, (at, conditions) in enumerate(self.layout.places(first, end)):
            self._bring(at, conditions, self._slot(slot, number))
        commit_copies(text)

    def _bring(self, at: str, conditions: Sequence[str], slot: str) -> None:
        """Where a load is in one piece it is a copy; else it goes by way of registers."""
        text, size = self.text, self.shape.load_bytes
        if self.shape.is_async:
            (inside,) = conditions
            count = text.value(f"arith.select {inside}, {text.i32(size)}, {text.i32(0)} : i32")
            address = text.value(f"arith.index_cast {text.add(at, self.base)} : index to i64")
            copy_async(text, slot, address, size, count, self.shape.prefetch)
            return
        vector = load(text, self.memory, "i8", at, size, self.shape.piece, conditions)
        store_words(text, slot, text.words(vector, f"vector<{size}xi8>", size // 4))

    def _slot(self, slot: str, number: int) -> str:
        if not number:
            return slot
        return self.text.word_op("addi", slot, number * self.shape.load_bytes * self.shape.threads)

    def codes(self, stage: str) -> list[list[str]]:
        """Of each of the thread's columns, 16 elements of K: four in a word."""
        slot = self.text.word_op("addi", self.slot, stage)
        count = self.shape.load_bytes // 4
        words = [load_words(self.text, self._slot(slot, i), count) for i in range(self.shape.loads)]
        return self.layout.codes(words)
