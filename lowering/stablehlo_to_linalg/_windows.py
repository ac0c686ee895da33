"""The windows of `reduce_window` and `select_and_scatter` along each dim, and loop nests over
places."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, scf

Bounds = tuple[ir.Value, ir.Value] | None
"""The bounds of a loop (index type); None for a trip count of one."""


@dataclass(frozen=True)
class Window:
    """The windows along one dim of an operand, which is dilated and padded first.

    Window k has the places k * stride + w * dilation for w in range(size); there are `count`.
    """

    operand_size: int
    count: int
    size: int = 1
    stride: int = 1
    dilation: int = 1
    base_dilation: int = 1
    low: int = 0
    high: int = 0


def windows(op: ir.Operation) -> list[Window]:
    """Those of a `reduce_window` or `select_and_scatter`, one per dim of their operands."""
    shape = op.operands[0].type.shape
    rank = len(shape)
    # The windows of a `select_and_scatter` are counted by its source.
    counted = op.results[0] if op.name == "stablehlo.reduce_window" else op.operands[1]

    def numbers(name: str, missing: int = 1) -> list[int]:
        if name not in op.attributes:
            return [missing] * rank
        return list(ir.DenseI64ArrayAttr(op.attributes[name]))

    padding = np.zeros((rank, 2), np.int64)
    if "padding" in op.attributes:
        padding = np.array(ir.DenseIntElementsAttr(op.attributes["padding"])).reshape(rank, 2)
    fields = zip(
        shape,
        counted.type.shape,
        numbers("window_dimensions"),
        numbers("window_strides"),
        numbers("window_dilations"),
        numbers("base_dilations"),
        padding[:, 0].tolist(),
        padding[:, 1].tolist(),
        strict=True,
    )
    return [Window(*each) for each in fields]


def index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def times(place: ir.Value, step: int) -> ir.Value:
    return place if step == 1 else arith.muli(place, index(step))


def nest(
    bounds: Sequence[Bounds],
    carried: Sequence[ir.Value],
    emit: Callable[[list[ir.Value], list[ir.Value]], Sequence[ir.Value]],
) -> list[ir.Value]:
    """The results of an `scf.for` nest with the loop-carried values `carried`, the last of `bounds`
    innermost.

    `emit` gets the induction variables and the loop-carried values, and gives the values to yield.
    """
    zero, one = index(0), index(1)

    def inside(position: list[ir.Value], values: Sequence[ir.Value]) -> list[ir.Value]:
        if len(position) == len(bounds):
            return list(emit(position, list(values)))
        limits = bounds[len(position)]
        if limits is None:
            return inside([*position, zero], values)
        loop = scf.ForOp(*limits, one, list(values))
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(inside([*position, loop.induction_variable], list(loop.inner_iter_args)))
        return list(loop.results)

    return inside([], carried)


def whole(sizes: Sequence[int]) -> list[Bounds]:
    """The bounds of loops over all places of a tensor of `sizes`."""
    return [None if size == 1 else (index(0), index(size)) for size in sizes]
