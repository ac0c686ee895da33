"""Codes of weights on their way through shared memory: each thread fetches what it multiplies.

A thread waits for its own copies alone, so that no barrier stops the stream of them.
"""

from mlir_fp8.lowering.gpu.kernels.elements import load
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import (
    commit_copies,
    copy_async,
    load_words,
    store_words,
)
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import GROUP, LOAD, FewRows
from mlir_fp8.lowering.gpu.kernels.text import GpuText


class Weights:
    """The loads of one thread: rows of B that are `GROUP` apart, from `column` on."""

    def __init__(
        self, text: GpuText, shape: FewRows, memory: tuple[str, str], column: str, slot: str
    ) -> None:
        """`slot` is where the first load of the first stage goes, i32."""
        self.text, self.shape, self.memory, self.slot = text, shape, memory, slot
        columns = [text.add(column, i * GROUP) for i in range(shape.loads)]
        is_whole = shape.n % shape.columns == 0
        self.insides = [None if is_whole else text.below(each, shape.n) for each in columns]
        self.starts = [text.mul(each, shape.k) for each in columns]
        if shape.piece == LOAD:
            name, type_ = memory
            self.base = text.value(
                f"memref.extract_aligned_pointer_as_index {name} : {type_} -> index"
            )

    def fetch(self, first: str, end: str, stage: str) -> None:
        """Begin the loads of 16 bytes from element `first` of K on, zeros from `end` on.

        `stage` is an offset, i32. They are a group of copies.
        """
        text, shape = self.text, self.shape
        slot = text.word_op("addi", self.slot, stage)
        if shape.piece == LOAD:
            is_there = text.below(first, end)
            for number in range(shape.loads):
                self._copy(number, first, is_there, slot)
        else:
            for number in range(shape.loads):
                self._move(number, first, end, slot)
        commit_copies(text)

    def _copy(self, number: int, first: str, is_there: str, slot: str) -> None:
        text, shape = self.text, self.shape
        condition = text.both(self.insides[number], is_there)
        count = text.value(f"arith.select {condition}, {text.i32(LOAD)}, {text.i32(0)} : i32")
        at = text.add(text.add(self.starts[number], first), self.base)
        address = text.value(f"arith.index_cast {at} : index to i64")
        copy_async(text, self._slot(slot, number), address, count, shape.prefetch)

    def _move(self, number: int, first: str, end: str, slot: str) -> None:
        """By way of registers: rows begin at any byte."""
        text, shape = self.text, self.shape
        conditions: list[str | None] = [
            text.both(self.insides[number], text.below(text.add(first, i), end))
            for i in range(0, LOAD, shape.piece)
        ]
        at = text.add(self.starts[number], first)
        vector = load(text, self.memory, "i8", at, LOAD, shape.piece, conditions)
        words = text.words(vector, f"vector<{LOAD}xi8>", LOAD // 4)
        store_words(text, self._slot(slot, number), words)

    def _slot(self, slot: str, number: int) -> str:
        if not number:
            return slot
        return self.text.word_op("addi", slot, number * LOAD * self.shape.threads)

    def words(self, stage: str) -> list[list[str]]:
        """What the loads of a stage brought: codes, four in a word."""
        slot = self.text.word_op("addi", self.slot, stage)
        return [load_words(self.text, self._slot(slot, i)) for i in range(self.shape.loads)]


