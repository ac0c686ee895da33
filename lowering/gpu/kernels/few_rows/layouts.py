"""Which codes of B a thread loads, and how they become words of four neighbours along K.

A thread has two columns of each tile, and 16 elements of K at a time.
"""

from collections.abc import Iterator, Sequence

from mlir_fp8.lowering.gpu.kernels.few_rows.shape import GROUP, LOAD, FewRows
from mlir_fp8.lowering.gpu.kernels.quantize_transpose import transposed
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_WORD = 4


class KMajor:
    """B is [n, k]: a load is 16 elements of K of one column; columns are `GROUP` apart."""

    def __init__(self, text: GpuText, shape: FewRows, column: str) -> None:
        self.text, self.shape = text, shape
        columns = [text.add(column, i * GROUP) for i in range(shape.loads)]
        is_whole = shape.n % shape.columns == 0
        self._insides = [None if is_whole else text.below(each, shape.n) for each in columns]
        self._starts = [text.mul(each, shape.k) for each in columns]

    def places(self, first: str, end: str) -> Iterator[tuple[str, list[str]]]:
        """Of each load its first code, and whether each piece of it is there."""
        text = self.text
        pieces = [text.below(text.add(first, i), end) for i in range(0, LOAD, self.shape.piece)]
        for start, inside in zip(self._starts, self._insides, strict=True):
            yield text.add(start, first), [text.both(inside, each) for each in pieces]

    def codes(self, words: Sequence[list[str]]) -> list[list[str]]:
        return list(words)


class NMajor:
    """B is [k, n]: a load is one element of K of all of the thread's columns, side by side."""

    def __init__(self, text: GpuText, shape: FewRows, column: str) -> None:
        self.text, self.shape, self._column = text, shape, column
        is_whole = shape.n % shape.columns == 0
        self._insides: list[str | None] = [
            None if is_whole else text.below(text.add(column, i), shape.n)
            for i in range(0, shape.load_bytes, shape.piece)
        ]

    def places(self, first: str, end: str) -> Iterator[tuple[str, list[str]]]:
        """As of `KMajor`."""
        text, n = self.text, self.shape.n
        start = text.add(text.mul(first, n), self._column)
        for i in range(self.shape.loads):
            is_there = text.below(text.add(first, i), end)
            conditions = [text.both(each, is_there) for each in self._insides]
            yield text.add(start, i * n), conditions

    def codes(self, words: Sequence[list[str]]) -> list[list[str]]:
        """Four by four of them transposed."""
        quads = [
            [
                transposed(self.text, [row[at] for row in words[first : first + _WORD]])
                for at in range(self.shape.load_bytes // _WORD)
            ]
            for first in range(0, LOAD, _WORD)
        ]
        return [
            [quad[column // _WORD][column % _WORD] for quad in quads]
            for column in range(self.shape.load_bytes)
        ]
