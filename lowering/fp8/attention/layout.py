"""The dimensions of an attention, whatever the program's layout: from and to [B, H, T, ...].

A dimension of a tensor is a row-major product of axes. Scores have the axes of their dot's result,
cut where the program cuts them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import is_used, producer
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, spread, with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build


@dataclass(frozen=True)
class Axis:
    """`key` names it, as that of a part of the scores' product; D and E have keys of their own."""

    key: tuple[int, ...]
    size: int


Axes = tuple[Axis, ...]


@dataclass(frozen=True)
class Layout:
    """Which axes make up B, Hk, H / Hk, T and S."""

    batch: Axes
    shared: Axes
    group: Axes
    rows: Axes
    keys: Axes

    @property
    def scores(self) -> tuple[Axes, ...]:
        return self.batch, (*self.shared, *self.group), self.rows, self.keys

    def queries(self, inner: Axis) -> tuple[Axes, ...]:
        """Those of q, and of the result."""
        return (*self.scores[:3], (inner,))

    def values(self, inner: Axis) -> tuple[Axes, ...]:
        """Those of k and v."""
        return self.batch, self.shared, self.keys, (inner,)


def arranged(value: ir.Value, dims: Sequence[Axes], wanted: Sequence[Axes]) -> ir.Value:
    """`value`, whose dimensions have the axes `dims`, with those of `wanted`.

    A dimension of `value` has the whole size of its axes, or 1, or one for each of equal blocks.
    Axes that it lacks get size 1; so do those that it has 1 number for.
    """
    given = {axis for group in wanted for axis in group}
    dims = [tuple(axis for axis in axes if axis in given) for axes in dims]
    value = _in_full(value, dims)
    sizes: dict[Axis, int] = {}
    order: list[Axis] = []
    for size, axes in zip(_shape(value), dims, strict=True):
        is_block = len(axes) == 1
        sizes.update({axis: size if is_block else min(size, axis.size) for axis in axes})
        order += axes
    value = _reshaped(value, [sizes[axis] for axis in order])
    target = [axis for group in wanted for axis in group if axis in sizes]
    value = _transposed(value, [order.index(axis) for axis in target])
    return _joined(value, target, wanted)


def _in_full(value: ir.Value, dims: Sequence[Axes]) -> ir.Value:
    """`value` without blocks in dimensions of several axes."""
    full = [
        size if size == 1 or len(axes) == 1 else math.prod(axis.size for axis in axes)
        for size, axes in zip(_shape(value), dims, strict=True)
    ]
    return _spread(value, full)


def _joined(value: ir.Value, target: Sequence[Axis], wanted: Sequence[Axes]) -> ir.Value:
    sizes = dict(zip(target, _shape(value), strict=True))
    for group in wanted:
        own = [sizes.get(axis, 1) for axis in group]
        if len(group) > 1 and max(own) > 1:  # what is joined is there in full
            sizes.update({axis: axis.size for axis in group})
    order = [axis for group in wanted for axis in group]
    value = _reshaped(value, [_size(value, target, axis) for axis in order])
    value = _spread(value, [sizes.get(axis, 1) for axis in order])
    return _reshaped(value, [math.prod(sizes.get(axis, 1) for axis in group) for group in wanted])


def _size(value: ir.Value, target: Sequence[Axis], axis: Axis) -> int:
    return _shape(value)[target.index(axis)] if axis in target else 1


def restored(value: ir.Value, given: Sequence[Axes], dims: Sequence[Axes]) -> ir.Value:
    """`value`, in the layout `given`, with the axes `dims`: all of its axes are among them."""
    order = [axis for group in given for axis in group]
    value = _reshaped(value, [axis.size for axis in order])
    target = [axis for axes in dims for axis in axes]
    value = _transposed(value, [order.index(axis) for axis in target])
    return _reshaped(value, [math.prod(axis.size for axis in axes) for axes in dims])


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _spread(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if _shape(value) == list(shape):
        return value
    target = ir.RankedTensorType(with_shape(value, shape))
    if all(size in (1, whole) for size, whole in zip(_shape(value), shape, strict=True)):
        return broadcast(value, target, range(len(shape)))
    return spread(value, target, list(range(len(shape))))


def _reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """One reshape at most: sizes of 1 go and come back."""
    if _shape(value) == list(shape):
        return value
    op = producer(value)
    if op is not None and op.name == "stablehlo.reshape":
        value = op.operands[0]
        if not is_used(op.results[0]):
            op.erase()
        return _reshaped(value, shape)
    return build("reshape", with_shape(value, shape), [value])


def _transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    if list(order) == sorted(order):
        return value
    shape = _shape(value)
    permutation = ir.DenseI64ArrayAttr.get(list(order))
    result = with_shape(value, [shape[i] for i in order])
    return build("transpose", result, [value], {"permutation": permutation})
