"""Blocked summation: the sum of each block is added to an accumulator of the level above.

In a serial sum of n numbers, the first ones go through n - 1 roundings. With levels of at most
`BLOCK` additions, a number goes through those of all levels: 256 + 256 + 153 for 10^7 numbers. The
blocks depend on the shapes alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

BLOCK = 256
"""Additions of one level: enough to amortize the next level, which costs under 1% of a sum with its
accumulators in memory; few enough to keep most of a pairwise sum's digits."""

Position = Mapping[int, ir.Value]
"""Induction variables by the number of the loop."""


@dataclass(frozen=True)
class Piece:
    """A strip of loop `loop`: `span` iterations from the enclosing strip's position, in steps of
    `step`."""

    loop: int
    size: int
    """The trip count of the whole loop."""
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
    """The levels of a sum over a loop nest, given by trip counts from the outermost in.

    From the top level down to the elements. Each level is a loop nest; a single one is the nest
    itself.
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
