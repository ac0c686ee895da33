"""The sums of a warp: codes of weights by rows of A, eight rows and 16 columns at a time.

The weights are the first operand of `mma`, their 16 rows columns of D. Which elements of K an `mma`
adds is free as long as both operands agree: a thread has 16 neighbours of a row of weights, of
which each `mma` takes four.
"""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.few_rows.codes import finite_codes, widened_codes
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import load_words, multiply_added
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import GROUP, FewRows
from mlir_fp8.lowering.gpu.kernels.text import GpuText


class Sums:
    """What one thread multiplies and adds, `at` being where its row of A is in shared memory."""

    def __init__(self, text: GpuText, shape: FewRows, lane_row: str, lane: str, base: str) -> None:
        """`lane_row`: which of eight rows, `lane`: which of four threads of it, both i32."""
        self.text, self.shape = text, shape
        across = text.word_op("addi", base, text.word_op("muli", lane, 32))
        self.rows = [self._row(lane_row, across, group) for group in range(shape.groups)]

    def _row(self, lane_row: str, across: str, group: int) -> str:
        """Of the rows behind the last, whose sums nobody reads, the last one."""
        text, shape = self.text, self.shape
        row = text.word_op("addi", lane_row, group * GROUP) if group else lane_row
        if (group + 1) * GROUP > shape.rows:
            row = text.word_op("minui", row, shape.rows - 1)
        return text.word_op("addi", across, text.word_op("muli", row, shape.row_bytes))

    def added(self, codes: Sequence[Sequence[str]], offset: str, sums: Sequence[str]) -> list[str]:
        """`sums`, four for each tile and group, with a step of 64 elements of K.

        `codes` are those of `Weights.codes`; `offset`, i32, is that of the step in shared memory.
        """
        text, shape = self.text, self.shape
        found = list(sums)
        rows = [text.word_op("addi", each, offset) for each in self.rows]
        for half in range(2):
            wholes = [self._weights(codes, tile, half, 0) for tile in range(shape.tiles)]
            for part in range(shape.parts):
                weights = wholes
                if part and shape.b_format == "f8E5M2":
                    weights = [
                        self._weights(codes, tile, half, part) for tile in range(shape.tiles)
                    ]
                for group, row in enumerate(rows):
                    at = part * shape.part_bytes + 16 * half
                    words = load_words(text, text.word_op("addi", row, at) if at else row)
                    for tile, quarters in enumerate(weights):
                        own = slice(4 * (tile * shape.groups + group), None)
                        four = found[own][:4]
                        for i, a in enumerate(quarters):
                            b = words[2 * i : 2 * i + 2]
                            four = multiply_added(text, shape.multiplied, a, b, four)
                        found[own.start : own.start + 4] = four
        return found

    def _weights(
        self, codes: Sequence[Sequence[str]], tile: int, half: int, part: int
    ) -> list[list[str]]:
        """The fragments of two `mma`. With the second and third part of an f32, which may be 0, an
        infinite weight would give NaN; the first part has it."""
        text, shape = self.text, self.shape
        found: list[list[str]] = []
        for i in range(2 * half, 2 * half + 2):
            upper, lower = (codes[2 * tile + row][i] for row in range(2))
            if part:
                upper, lower = finite_codes(text, upper), finite_codes(text, lower)
            pairs = [
                widened_codes(text, each, shape.b_format, shape.multiplied)
                for each in (upper, lower)
            ]
            found.append([pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]])
        return found
