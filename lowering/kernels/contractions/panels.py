"""Operands whose buffer has them in panels: a packed weight, which is read where it lies.

The module moves it into the order of a matrix, by a transpose and a reshape; kernels need neither.
"""

from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    are_distinct,
    is_elementwise,
    written,
)
from mlir_fp8.lowering.kernels.contractions.leaves import collapsed, operand_leaf, spread
from mlir_fp8.lowering.kernels.vector_code.expression import Leaf
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions, indexing_maps


def panel_leaf(
    value: ir.Value, map_: ir.AffineMap, order: BlockOrder, reader: ir.Operation, last: ir.Operation
) -> Leaf | None:
    """What `map_` of `reader` reads of a copy, as a leaf in panels of the buffer that was copied.

    None where `value` is no copy of panels, or the buffer changes before `last`, which reads it in
    the place of `reader`.
    """
    if not isinstance(value.type, ir.MemRefType) or not map_.is_projected_permutation:
        return None
    found = _viewed(value, order, reader, last)
    if found is None or not found.steps:
        return None
    spans = {mine: [(dim, value.type.shape[dim])] for dim, mine in enumerate(dimensions(map_))}
    return spread(found, spans, map_.n_dims)


def _viewed(
    value: ir.Value, order: BlockOrder, reader: ir.Operation, last: ir.Operation
) -> Leaf | None:
    """What `value` is of the buffer that it is a copy of, along its own dimensions."""
    view = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if view is None:
        return None
    if view.name == "memref.expand_shape":
        found = _viewed(view.operands[0], order, reader, last)
        return None if found is None else _expanded(found, view)
    if view.name == "memref.subview":
        return _viewed(view.operands[0], order, reader, last) if _is_first(view) else None
    if view.name != "memref.collapse_shape":
        return None
    made = view.operands[0]
    copy = _copy_to(made, order, reader)
    if copy is None or not order.is_unchanged(copy.operands[0], copy, last):
        return None
    maps = indexing_maps(copy)
    read = operand_leaf(copy.operands[0], maps[0])
    if read is None:
        return None
    own, sizes = dimensions(maps[1]), ir.MemRefType(made.type).shape
    spans = [[(own[dim], sizes[dim]) for dim in dims] for dims in collapsed(value)]
    return spread(read, dict(enumerate(spans)), len(spans))


def _is_first(subview: ir.Operation) -> bool:
    """Whether it takes the first elements along each dimension, and keeps them all."""
    offsets = ir.DenseI64ArrayAttr(subview.attributes["static_offsets"])
    strides = ir.DenseI64ArrayAttr(subview.attributes["static_strides"])
    ranks = {ir.MemRefType(each.type).rank for each in (subview.results[0], subview.operands[0])}
    is_first = all(each == 0 for each in offsets) and all(each == 1 for each in strides)
    return is_first and len(ranks) == 1


def _expanded(leaf: Leaf, expand: ir.Operation) -> Leaf | None:
    """`leaf` along the dimensions that `memref.expand_shape` makes of its own."""
    shape = ir.MemRefType(expand.results[0].type).shape
    strides, groups, steps = [0] * len(shape), [1] * len(shape), [0] * len(shape)
    for own, each in enumerate(ir.ArrayAttr(expand.attributes["reassociation"])):
        dims = [ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(each)]
        if leaf.group(own) > 1:
            whole = [dim for dim in dims if shape[dim] > 1]
            if len(whole) != 1:
                return None
            strides[whole[0]], groups[whole[0]] = leaf.strides[own], leaf.group(own)
            steps[whole[0]] = leaf.step(own)
            continue
        step = leaf.strides[own]
        for dim in reversed(dims):
            strides[dim] = step
            step *= shape[dim]
    return replace(leaf, strides=tuple(strides), groups=tuple(groups), steps=tuple(steps))


def _copy_to(made: ir.Value, order: BlockOrder, reader: ir.Operation) -> ir.Operation | None:
    """The op that copies into the allocation `made` what `reader` reads of it."""
    if isinstance(made.owner, ir.Block) or made.owner.operation.name != "memref.alloc":
        return None
    op = order.last_writer(made, reader)
    if op is None or not order.comes_before(op, reader) or not is_elementwise(op):
        return None
    if written(op) != [made] or len(op.operands) != 2:
        return None
    block = op.regions[0].blocks[0]
    is_copy = list(block.operations)[-1].operation.operands[0] == block.arguments[0]
    if not is_copy or not all(each.is_permutation for each in indexing_maps(op)):
        return None
    return op if are_distinct(op.operands[0], made) else None
