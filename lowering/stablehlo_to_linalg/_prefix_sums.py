"""Cumulative sums of floats in blocks, whose sums are added with compensation.

Each prefix is the sum of all blocks before plus that of its own block so far, rounded once. The sum
of all blocks is kept as a number and its rounding error (Knuth's TwoSum), with which the next block
begins: so no error grows with the number of blocks, and the sums of positive numbers never fall
from one block to the next.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from mlir_fp8.lowering.sums.sum_form import Sum
from mlir_fp8.lowering.sums.sum_levels import Piece, Position, nest

PREFIX_BLOCK = 512
"""Numbers of a block: the compensated sum is a loop-carried chain of some ten additions per
block."""

Places = Callable[[ir.Value], list[ir.Value]]
"""From the number of an element (index type) to its place."""


def write_prefix_sums(
    source: ir.Value, result: ir.Value, initial: ir.Value, size: int, places: Places
) -> ir.Value:
    """The tensor `result` with the sums of `initial` and all up to each of `size` elements."""
    neutral = Sum(initial.type, "arith.addf").neutral()

    def block(at: Position, carried: list[ir.Value]) -> list[ir.Value]:
        before, error, result = carried

        def step(at: Position, carried: list[ir.Value]) -> list[ir.Value]:
            place = places(at[0])
            total = arith.addf(carried[0], tensor.extract(source, place))
            return [total, tensor.insert(arith.addf(before, total), carried[1], place)]

        total, result = nest([Piece(0, size, 1, PREFIX_BLOCK)], at, [error, result], step)
        return [*_two_sum(before, total, neutral), result]

    return nest([Piece(0, size, PREFIX_BLOCK, size)], {}, [initial, neutral, result], block)[-1]


def _two_sum(left: ir.Value, right: ir.Value, neutral: ir.Value) -> list[ir.Value]:
    """The rounded sum, and what that is short of the exact one; nothing of infinity."""
    total = arith.addf(left, right)
    other = arith.subf(total, left)
    error = arith.addf(arith.subf(left, arith.subf(total, other)), arith.subf(right, other))
    is_number = arith.cmpf(arith.CmpFPredicate.ORD, error, error)
    return [total, arith.select(is_number, error, neutral)]
