"""Convolutions among the linalg ops on buffers, as sizes and strides, for the kernels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.buffer_uses import BlockOrder, are_distinct
from mlir_fp8.lowering.kernels.contractions.contraction import (
    expression_of,
    factors_of,
    result_count,
)
from mlir_fp8.lowering.kernels.contractions.leaves import buffer_leaf
from mlir_fp8.lowering.kernels.contractions.producers import zero_fill
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf, body_slice
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps


@dataclass(frozen=True)
class Convolution:
    """`out[outer, m, n] = sum over k of left[outer, m + k] * right[outer, k, n]`, in f32.

    As a `Contraction`, but the left operand's offset is any linear form of the induction
    variables, and m and k may be several loops. Unit loops are dropped.
    """

    sizes: tuple[int, ...]
    outer: tuple[int, ...]
    m: tuple[int, ...]
    """By descending strides of the result."""
    n: int
    k: tuple[int, ...]
    """By descending strides of the left operand."""
    left: Leaf
    left_root: ir.Value
    """The f32 value that is multiplied: an argument of a linalg body, or computed from one.

    If computed, strides are those of a contiguous buffer of the computed values.
    """
    right: Expression
    out: Leaf
    fill: ir.Operation
    """The zero fill of the result, which the kernels make redundant."""

    def size(self, dimensions: Sequence[int]) -> int:
        return math.prod(self.sizes[dimension] for dimension in dimensions)


def convolution(op: ir.Operation, order: BlockOrder) -> Convolution | None:
    """`op` as an f32 convolution with a zero init; None for any other op."""
    if op.name != "linalg.generic" or len(op.results) or result_count(op) != 1:
        return None
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    factors = factors_of(block, arguments[-1])
    maps = indexing_maps(op)
    if factors is None or not isinstance(arguments[-1].type, ir.F32Type) or len(maps) != 3:
        return None
    sizes = _loop_sizes(op, maps)
    out = buffer_leaf(op.operands[2], maps[2])
    fill = None if out is None else zero_fill(op, order, out.buffer)
    if sizes is None or out is None or fill is None or 0 in sizes:
        return None
    for left, right in (factors, factors[::-1]):
        computed = body_slice(left)
        if computed is None or len(computed[1]) != 1 or computed[1][0] == arguments[-1]:
            continue
        number = arguments.index(computed[1][0])
        image = _linear_leaf(op.operands[number], maps[number], is_computed=bool(computed[0]))
        if image is None or not maps[1 - number].is_projected_permutation:
            continue
        filter_ = expression_of(right, op, order, maps)
        if filter_ is None or computed[1][0] in filter_.sources:
            continue
        if any(each.subview is not None or each.groups or each.bits for each in filter_.leaves):
            continue
        if not all(are_distinct(each.buffer, out.buffer) for each in (image, *filter_.leaves)):
            continue
        found = _by_role(sizes, image, left, filter_, out, fill)
        if found is not None:
            return found
    return None


def _linear_leaf(value: ir.Value, map_: ir.AffineMap, *, is_computed: bool) -> Leaf | None:
    """A buffer whose offset is a linear form of the induction variables.

    A contiguous one where its elements are computed first.
    """
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return None
    steps, offset = type_.get_strides_and_offset()
    if is_computed:
        shape = type_.shape
        steps, offset = [math.prod(shape[d + 1 :]) for d in range(type_.rank)], 0
    strides = [0] * map_.n_dims
    for expr, step in zip(map_.results, steps, strict=True):
        factors = _linear(expr)
        if factors is None or step < 0:
            return None
        for loop, factor in factors.items():
            strides[loop] += factor * step
    if offset < 0:
        return None
    return Leaf(value, tuple(strides), offset)


def _linear(expr: ir.AffineExpr) -> dict[int, int] | None:
    """The coefficients of the loops in `expr`, if it is linear."""
    if isinstance(expr, ir.AffineDimExpr):
        return {ir.AffineDimExpr(expr).position: 1}
    if isinstance(expr, ir.AffineMulExpr):
        parts = [ir.AffineMulExpr(expr).lhs, ir.AffineMulExpr(expr).rhs]
        numbers = [each for each in parts if isinstance(each, ir.AffineConstantExpr)]
        loops = [each for each in parts if isinstance(each, ir.AffineDimExpr)]
        if len(numbers) != 1 or len(loops) != 1 or ir.AffineConstantExpr(numbers[0]).value < 0:
            return None
        return {ir.AffineDimExpr(loops[0]).position: ir.AffineConstantExpr(numbers[0]).value}
    if isinstance(expr, ir.AffineAddExpr):
        both = [_linear(ir.AffineAddExpr(expr).lhs), _linear(ir.AffineAddExpr(expr).rhs)]
        total: dict[int, int] = {}
        for part in both:
            if part is None:
                return None
            for loop, factor in part.items():
                total[loop] = total.get(loop, 0) + factor
        return total
    return None


def _loop_sizes(op: ir.Operation, maps: list[ir.AffineMap]) -> list[int] | None:
    """The trip count of each loop; None where no operand has it as a dimension."""
    sizes: dict[int, int] = {}
    for value, map_ in zip(op.operands, maps, strict=True):
        if not isinstance(value.type, ir.MemRefType) or not value.type.has_static_shape:
            return None
        for expr, size in zip(map_.results, value.type.shape, strict=True):
            if isinstance(expr, ir.AffineDimExpr):
                sizes[ir.AffineDimExpr(expr).position] = size
    return [sizes[d] for d in range(len(sizes))] if len(sizes) == maps[0].n_dims else None


def _by_role(
    sizes: list[int],
    left: Leaf,
    root: ir.Value,
    right: Expression,
    out: Leaf,
    fill: ir.Operation,
) -> Convolution | None:
    expected = {
        (True, True, True): "outer", (True, False, True): "m", (False, True, True): "n",
        (True, True, False): "k",
    }  # fmt: skip
    roles: dict[str, list[int]] = {"outer": [], "m": [], "n": [], "k": []}
    for d, size in enumerate(sizes):
        if size == 1:
            continue
        in_right = any(leaf.strides[d] for leaf in right.leaves)
        role = expected.get((left.strides[d] != 0, in_right, out.strides[d] != 0))
        if role is None:
            return None
        roles[role].append(d)
    if not all(roles[role] for role in "mnk"):
        return None
    roles["m"].sort(key=lambda d: -out.strides[d])
    roles["k"].sort(key=lambda d: -left.strides[d])
    # The columns of a tile are along the result's contiguous dimension; the rest of n is outer.
    roles["n"].sort(key=lambda d: (out.strides[d] != 1, -sizes[d]))
    n, *others = roles["n"]
    m, sizes = _merged(roles["m"], sizes, [left, out])
    k, sizes = _merged(roles["k"], sizes, [left, *right.leaves])
    return Convolution(
        tuple(sizes), (*others, *roles["outer"]), m, n, k, left, root, right, out, fill
    )  # fmt: skip


def _merged(
    dimensions: list[int], sizes: list[int], leaves: list[Leaf]
) -> tuple[tuple[int, ...], list[int]]:
    """Collapse adjacent dimensions that have one stride in every buffer."""
    sizes = list(sizes)
    kept: list[int] = []
    for d in dimensions:
        last = kept[-1] if kept else None
        if last is not None and all(x.strides[last] == x.strides[d] * sizes[d] for x in leaves):
            sizes[d] *= sizes[last]
            kept.pop()
        kept.append(d)
    return tuple(kept), sizes
