"""Scales of blocks, with which the sums of a tile of K enter those of the whole in f32.

What the tensor core has added over 128 of K is times the scales of A's row and of B's, as
DeepSeek-V3 has it (Technical Report, arXiv:2412.19437, 3.3.2): the product of the scales is rounded
to f32, and the sum times it is added in one rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.product.blocks import SPAN, Blocks
from mlir_fp8.lowering.gpu.kernels.product.instructions import load_neighbours, load_words
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.kernels.product.split import part_of_steps
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_ROW_STEP = 8
"""Between the two rows of D that a thread has, and between its pairs of columns."""
_MOST_AHEAD = 20
"""Scales that a thread has registers for while it waits for the next ones."""
Factors = tuple[list[str], list[str]]


class BlockFactors:
    """Of one tile of D: `row` is that of A, of all batches, which this thread has first, `column`
    the row of B that the tile's first column is of.

    `addresses` are those of the scales of A and of B, i64; empty where they are of no blocks.
    """

    def __init__(
        self, text: GpuText, shape: Product, addresses: tuple[str, str], row: str, column: str
    ) -> None:
        self.text, self.shape = text, shape
        self._a: list[_Line] = []
        self._b: _Line | None = None
        self._of_columns: str | None = None
        if shape.a_blocks is not None:
            last = None if shape.m % (shape.tile_m * shape.cluster) == 0 else shape.a_rows - 1
            of_a = (shape.a_blocks, *shape.a_blocks.counts(shape.a_rows, shape.k))
            rows = (row, text.add(row, _ROW_STEP))
            self._a = [_Line(text, *of_a, addresses[0], each, last, shape.parts) for each in rows]
        if shape.b_blocks is not None:
            of_b = (shape.b_blocks, *shape.b_blocks.counts(shape.b_rows, shape.k))
            if shape.b_blocks.rows > 1:
                self._b = _Line(text, *of_b, addresses[1], column, None, shape.parts)
            else:
                lane = text.rem(text.thread(), 4)
                self._of_columns = text.add(column, text.mul(lane, 2))
                self._b = _Line(text, *of_b, addresses[1], text.index(0), None, shape.parts)

    @property
    def counts(self) -> tuple[int, int]:
        """How many `loaded` gives of A and of B."""
        if self._b is None:
            return len(self._a), 0
        return len(self._a), 1 if self._of_columns is None else self.shape.tile_n // 4

    @property
    def come_ahead(self) -> bool:
        """Whether those of a part are loaded while the one before it is multiplied: memory takes
        longer than the tensor core."""
        return sum(self.counts) <= _MOST_AHEAD

    def next_loaded(self, step: str, part: int) -> Factors:
        """As `loaded`, of the part behind that; behind the last of all the last one's."""
        if part + 1 < self.shape.parts:
            return self.loaded(step, part + 1)
        return self.loaded(self.text.add(step, 1), 0)

    def loaded(self, step: str, part: int = 0) -> Factors:
        """The scales of A's two rows and of B's columns (one: of all), of a part of a tile of K."""
        text, shape = self.text, self.shape
        if shape.split > 1:
            step = text.add(part_of_steps(text, shape)[0], step)
        a = [load_words(text, line.at(step, part), 1)[0] for line in self._a]
        if self._b is None:
            return a, []
        start = self._b.at(step, part)
        if self._of_columns is None:
            return a, load_words(text, start, 1)
        width = 1 if shape.n % 2 else 2
        pairs = [8 * i + j for i in range(shape.tile_n // 8) for j in range(0, 2, width)]
        if shape.n % shape.tile_n == 0:
            start = _moved(text, start, self._of_columns)
            return a, [x for at in pairs for x in load_words(text, start, width, 4 * at)]
        column = text.value(f"arith.index_cast {self._of_columns} : index to i32")
        last = shape.b_rows - width
        listed = [load_neighbours(text, start, column, width, at, last) for at in pairs]
        return a, [x for each in listed for x in each]

    def added(self, sums: Sequence[str], parts: Sequence[str], factors: Factors) -> list[str]:
        """`sums`, and `parts` times their factors."""
        made: dict[tuple[str, ...], str] = {}
        return [
            self.text.fma(part, self._factor(factors, i, made), whole)
            for i, (whole, part) in enumerate(zip(sums, parts, strict=True))
        ]

    def _factor(self, factors: Factors, i: int, made: dict[tuple[str, ...], str]) -> str:
        """Of the i-th sum of a thread: of each eight columns two, of a row and of the other."""
        places = (i // 2 % 2, i // 4 * 2 + i % 2)
        pairs = zip(factors, places, strict=True)
        taken = tuple(each[at if len(each) > 1 else 0] for each, at in pairs if each)
        if taken not in made:
            made[taken] = taken[0]
            if len(taken) > 1:
                made[taken] = self.text.value(f"arith.mulf {taken[0]}, {taken[1]} : f32")
        return made[taken]


class Ahead:
    """The scales of parts of K one after the other, those of the next `held` where they come so."""

    def __init__(self, factors: BlockFactors | None) -> None:
        self.factors = factors
        self.held: list[str] = []

    def first(self, zero: str) -> list[str]:
        """What is held before the first part of a tile of D."""
        if self.factors is None or not self.factors.come_ahead:
            return []
        a, b = self.factors.loaded(zero)
        return [*a, *b]

    def taken(self, step: str, part: int) -> Factors | None:
        """Those of a part of K, while that is multiplied."""
        if self.factors is None:
            return None
        if not self.held:
            return self.factors.loaded(step, part)
        count = self.factors.counts[0]
        found = self.held[:count], self.held[count:]
        a, b = self.factors.next_loaded(step, part)
        self.held = [*a, *b]
        return found


@dataclass(frozen=True)
class _Line:
    """The scales along K of the row `row` of an operand, of `down` lines with `along` each.

    What is outside of D is not stored: where `last` is the last row, any after it has its scale.
    A tile of K has `parts`.
    """

    text: GpuText
    blocks: Blocks
    down: int
    along: int
    address: str
    row: str
    last: int | None
    parts: int

    def at(self, step: str, part: int) -> str:
        """The address of the scale of a part of a tile of K, i64; behind the last that of the last:
        there are zeros, or nothing is multiplied by it."""
        text, blocks = self.text, self.blocks
        row = self.row if self.last is None else text.minimum(self.row, text.index(self.last))
        row = text.div(row, blocks.rows) if blocks.rows > 1 else row
        k = text.div(step, blocks.k // SPAN) if blocks.k > SPAN else step
        if blocks.k < SPAN:
            each = SPAN // blocks.k
            k = text.add(text.mul(step, each), part * each // self.parts)
        k = text.minimum(k, text.index(self.along - 1))
        steps = (1, self.down) if blocks.by_k else (self.along, 1)
        place = text.add(text.mul(row, steps[0]), text.mul(k, steps[1]))
        return _moved(text, self.address, place)


def _moved(text: GpuText, address: str, numbers: str) -> str:
    bytes_ = text.value(f"arith.index_cast {text.mul(numbers, 4)} : index to i64")
    return text.value(f"arith.addi {address}, {bytes_} : i64")
