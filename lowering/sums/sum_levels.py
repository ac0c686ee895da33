"""Long sums in blocks: what a block adds up to is added to the level above, block after block.

Of n numbers that are added one after the other up to n - 1 roundings meet the first ones. With
levels of at most `BLOCK` additions each number meets as many as all levels have together, which is
the number of levels times `BLOCK`: 256 + 256 + 153 for 10^7 numbers. Which numbers make a block
is a matter of the shapes alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

BLOCK = 256
"""Additions of one level: enough to spread what the next level costs, under 1% of a sum that
reads and writes its accumulators each time; few enough to keep most of a pairwise sum's digits."""

Position = Mapping[int, ir.Value]
"""The counters of loops, by the numbers of these."""


@dataclass(frozen=True)
class Piece:
    """A part of loop `loop`: from where the pieces around it are, `span` on, in steps of `step`."""

    loop: int
    size: int
    """Of the whole loop."""
    step: int
    span: int

    def bounds(self, position: Position) -> tuple[ir.Value, ir.Value]:
        start = position.get(self.loop)
        if start is None:
            return _index(0), _index(self.size)
        end = arith.addi(start, _index(self.span))
        return start, end if self.size % self.span == 0 else arith.minui(end, _index(self.size))


Level = tuple[Piece, ...]


def sum_levels(sizes: Mapping[int, int]) -> list[Level]:
    """The levels of a sum over a nest of loops, given with their sizes from the outermost on.

    From the last level to the first, whose numbers are what is summed. With one level alone the
    loops are as they were. Each level is a nest.
    """
    levels: list[list[Piece]] = [[]]
    count = 1
    for loop, size in reversed(list(sizes.items())):
        step = 1
        while True:
            fits, steps = BLOCK // count, math.ceil(size / step)
            if steps <= fits:
                levels[-1].insert(0, Piece(loop, size, step, size))
                count *= max(steps, 1)
                break
            if fits > 1:
                levels[-1].insert(0, Piece(loop, size, step, step * fits))
                step *= fits
            levels.append([])
            count = 1
    return [tuple(level) for level in reversed(levels)]


def nest(
    pieces: Sequence[Piece],
    position: Position,
    carried: Sequence[ir.Value],
    emit: Callable[[Position, list[ir.Value]], Sequence[ir.Value]],
) -> list[ir.Value]:
    """The results of an `scf.for` nest that carries `carried`; `emit` gives what it yields."""
    if not pieces:
        return list(emit(position, list(carried)))
    piece, *rest = pieces
    loop = scf.ForOp(*piece.bounds(position), _index(piece.step), list(carried))
    with ir.InsertionPoint(loop.body):
        inner = {**position, piece.loop: loop.induction_variable}
        scf.YieldOp(nest(rest, inner, list(loop.inner_iter_args), emit))
    return list(loop.results)


def whole(sizes: Mapping[int, int]) -> Level:
    """Loops over all of `sizes`."""
    return tuple(Piece(loop, size, 1, size) for loop, size in sizes.items())


def fold(
    levels: Sequence[Level],
    position: Position,
    start: Sequence[ir.Value],
    neutral: Sequence[ir.Value],
    add: Callable[[list[ir.Value], list[ir.Value]], Sequence[ir.Value]],
    emit: Callable[[Position, list[ir.Value]], Sequence[ir.Value]],
) -> list[ir.Value]:
    """`start` and the sums of all levels, as scalars or vectors that loops carry.

    `emit` adds what is at a position to what it is given; levels begin with `neutral` and are added
    to the one above by `add`.
    """
    level, *below = levels
    if not below:
        return nest(level, position, start, emit)
    return nest(
        level,
        position,
        start,
        lambda at, total: add(total, fold(below, at, neutral, neutral, add, emit)),
    )


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
