"""`linalg-collapse-dims`: adjacent dimensions that are contiguous in every operand become one.

One long loop in place of a nest is less code, vectorizes over its whole length, and equals more
other loops, which `outline-loops` then compiles once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps

Groups = list[list[int]]
"""Groups of adjacent loops; each becomes one loop."""


@dataclass(frozen=True)
class LinalgCollapseDims(ModulePass):
    """Collapse the dimensions of `linalg.generic` on buffers of static shapes, views included.

    Ops with a `linalg.index` stay as they are.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and _is_on_buffers(op) and not _asks_for_index(op):
                    _collapse(op)


def _is_on_buffers(op: ir.Operation) -> bool:
    return all(
        isinstance(operand.type, ir.MemRefType) and operand.type.has_static_shape
        for operand in op.operands
        if isinstance(operand.type, ir.ShapedType)
    )


def _asks_for_index(op: ir.Operation) -> bool:
    return any(inner.name == "linalg.index" for inner in operations(op))


def _collapse(op: ir.Operation) -> None:
    maps = indexing_maps(op)
    dims = [_positions(map_) for map_ in maps]
    if any(positions is None for positions in dims):
        return
    uses = [(positions or [], value) for positions, value in zip(dims, op.operands, strict=True)]
    iterators = list(ir.ArrayAttr(op.attributes["iterator_types"]))
    is_written_over = _is_written_over(op)
    groups: Groups = [[loop] for loop in range(len(iterators))][:1]
    for before, loop in pairwise(range(len(iterators))):
        together = (
            not (before == 0 and is_written_over)
            and iterators[before] == iterators[loop]
            and all(_lie_together(positions, value, before, loop) for positions, value in uses)
        )
        if together:
            groups[-1].append(loop)
        else:
            groups.append([loop])
    if len(groups) < len(iterators):
        _rebuild(op, uses, groups, [iterators[group[0]] for group in groups])


def _is_written_over(op: ir.Operation) -> bool:
    """Whether `op` fills what has parts: its rows stay a loop that can become one with theirs."""
    *inputs, out = op.operands
    is_fill = not any(isinstance(value.type, ir.MemRefType) for value in inputs)
    return is_fill and any(use.owner.operation.name == "memref.subview" for use in out.uses)


def _positions(map_: ir.AffineMap) -> list[int] | None:
    """The loops that index an operand, each at most once; None for any other map."""
    if not all(isinstance(each, ir.AffineDimExpr) for each in map_.results):
        return None
    positions = [ir.AffineDimExpr(each).position for each in map_.results]
    return positions if len(set(positions)) == len(positions) else None


def _lie_together(positions: Sequence[int], value: ir.Value, first: int, second: int) -> bool:
    if first not in positions and second not in positions:
        return True
    return (first, second) in pairwise(positions) and _are_in_one_stride(
        ir.MemRefType(value.type), positions.index(first)
    )


def _are_in_one_stride(type_: ir.MemRefType, dim: int) -> bool:
    """Whether dimension `dim` and the one after it are contiguous."""
    if not isinstance(type_.layout, ir.StridedLayoutAttr):
        return type_.affine_map == ir.AffineMap.get_identity(type_.rank)
    strides, shape = type_.get_strides_and_offset()[0], type_.shape
    is_known = ir.ShapedType.get_dynamic_stride_or_offset() not in strides
    # Upstream takes another stride for a dimension of size one.
    has_extent = 1 not in shape[dim : dim + 2]
    return is_known and has_extent and strides[dim] == strides[dim + 1] * shape[dim + 1]


def _rebuild(
    op: ir.Operation,
    uses: Sequence[tuple[list[int], ir.Value]],
    groups: Groups,
    iterators: Sequence[ir.Attribute],
) -> None:
    new_of = {loop: new for new, group in enumerate(groups) for loop in group}
    attributes = dict(op.attributes.items())
    maps: list[ir.Attribute] = []
    with ir.InsertionPoint(op), op.location:
        operands: list[ir.Value] = []
        for positions, value in uses:
            kept = list(dict.fromkeys(new_of[loop] for loop in positions))
            exprs = [ir.AffineDimExpr.get(new) for new in kept]
            maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(len(groups), 0, exprs)))
            operands.append(_collapsed(value, [len(groups[new]) for new in kept]))
        attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
        attributes["iterator_types"] = ir.ArrayAttr.get(list(iterators))
        new = ir.Operation.create(
            "linalg.generic", operands=operands, attributes=attributes, regions=1
        )
    op.regions[0].blocks[0].append_to(new.regions[0])
    op.erase()


def _collapsed(value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    """The buffer with its first `sizes[0]` dimensions as one, the next `sizes[1]`, and so on."""
    if all(size == 1 for size in sizes):
        return value
    type_ = ir.MemRefType(value.type)
    ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
    parts = [list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)]
    shape = [math.prod(type_.shape[dim] for dim in part) for part in parts]
    layout = None
    if isinstance(type_.layout, ir.StridedLayoutAttr):
        strides, offset = type_.get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(offset, [strides[part[-1]] for part in parts])
    result = ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)
    return memref.collapse_shape(result, value, parts)
