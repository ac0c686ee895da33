"""Which channel of a weight meets which of an activation: what smoothing shifts factors along."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.contractions import (
    batching_dims,
    contracting_dims,
    is_convolution,
    is_product,
)
from mlir_fp8.lowering.fp8.weights.find import Weight
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, scale_shape
from mlir_fp8.lowering.fp8.weights.moves import blocks_after, moved_result

_GROUPS = ("feature_group_count", "batch_group_count")


@dataclass(frozen=True, eq=False)
class ChannelUse:
    """A product of a weight: `side` is that of the activation, `index` has its rank.

    `index` is of its size along what is contracted and batched over, else 1, and says which of the
    weight's channels, counted in row-major order, each of the activation's meets.
    """

    op: ir.Operation
    side: int
    index: np.ndarray


@dataclass
class _Search:
    """What reads a weight, as far as it was followed, and why it can have no factors."""

    found: list[ChannelUse]
    reason: str = ""


def channel_shape(weight: Weight) -> list[int]:
    """The shape of one factor for each channel of `weight`, of its rank."""
    shape = weight.type.shape
    return [size if dim in weight.channels else 1 for dim, size in enumerate(shape)]


def channel_uses(weight: Weight, weights: Sequence[Weight]) -> tuple[list[ChannelUse], str]:
    """All products of `weight`, one of `weights`, or why it can have no factors."""
    shape = channel_shape(weight)
    blocks = tuple(int(dim in weight.channels) for dim in range(len(shape)))
    search = _Search([])
    if not math.prod(shape):
        return [], "has no elements"
    if len(set(weight.products)) < len(weight.products):
        return [], "is multiplied by itself"
    readers = {op for each in weights if each is not weight for op in each.products}
    if not readers.isdisjoint(weight.products):
        return [], "is multiplied by another weight"
    if not weight.products:
        return [], "is read by no product"
    _follow(weight.value, blocks, np.arange(math.prod(shape)).reshape(shape), search)
    return ([], search.reason) if search.reason else (search.found, "")


def _follow(value: ir.Value, blocks: Blocks, index: np.ndarray, search: _Search) -> None:
    for use in value.uses:
        op, number = use.owner.operation, use.operand_number
        if is_product(op):
            _meet(op, number, blocks, index, search)
            continue
        after = _moved(op, number, blocks, index)
        if after is None:
            search.reason = f"is read by {op.name}, which no factors follow"
            return
        _follow(op.results[0], *after, search)


def _meet(op: ir.Operation, side: int, blocks: Blocks, index: np.ndarray, search: _Search) -> None:
    """The channels of the other operand of the product `op`, whose operand `side` is the weight."""
    own = [*batching_dims(op, side), *contracting_dims(op, side)]
    others = [*batching_dims(op, 1 - side), *contracting_dims(op, 1 - side)]
    shape = ir.RankedTensorType(op.operands[side].type).shape
    if is_convolution(op) and any(
        ir.IntegerAttr(op.attributes[each]).value > 1 for each in _GROUPS
    ):
        search.reason = "is of a convolution in groups, whose channels meet several of its filters"
        return
    if any(size > 1 and dim not in own and blocks[dim] for dim, size in enumerate(shape)):
        search.reason = "is contracted along other dimensions by another product"
        return
    rest = [dim for dim in range(index.ndim) if dim not in own]
    # Along what a move repeats the weight, each activation meets the same channel.
    whole = [shape[dim] if dim in own else 1 for dim in range(index.ndim)]
    met = np.broadcast_to(index, whole).transpose([*own, *rest])
    met = met.reshape([shape[dim] for dim in own]).transpose(np.argsort(others))
    rank = ir.RankedTensorType(op.operands[1 - side].type).rank
    sizes = [1] * rank
    for dim, size in zip(sorted(others), met.shape, strict=True):
        sizes[dim] = size
    search.found.append(ChannelUse(op, 1 - side, met.reshape(sizes)))


def _moved(
    op: ir.Operation, number: int, blocks: Blocks, index: np.ndarray
) -> tuple[Blocks, np.ndarray] | None:
    """`index` after `op`; None where that is no move, or one whose places are not known."""
    result = moved_result(op, number)
    after = None if result is None else blocks_after(op, number, blocks)
    if result is None or after is None or op.name == "stablehlo.gather":
        return None
    before, shape = (list(ir.RankedTensorType(x.type).shape) for x in (op.operands[0], result))
    sizes = scale_shape(shape, after) or [1] * len(shape)
    match op.name.removeprefix("stablehlo."):
        case "convert" | "optimization_barrier":
            return after, index
        case "transpose":
            return after, index.transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
        case "broadcast_in_dim":
            places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            return after, index.transpose(np.argsort(places)).reshape(sizes)
        case "reshape":
            return after, index.reshape(sizes)
        case "reverse":
            dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
            return after, np.flip(index, tuple(dim for dim in dims if blocks[dim]))
        case "slice":
            names = ("start_indices", "limit_indices", "strides")
            bounds = [list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in names]
            parts = [slice(*each) for each in zip(*bounds, strict=True)]
            pairs = zip(parts, blocks, strict=True)
            return after, index[tuple(part if block else slice(None) for part, block in pairs)]
    is_whole = all(a == b or not block for a, b, block in zip(before, shape, blocks, strict=True))
    return (after, index) if is_whole else None
