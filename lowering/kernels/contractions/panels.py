"""Operands whose buffer has them in panels: a packed weight, which is read where it lies.

The module moves it into the order of a matrix, by a transpose and a reshape; kernels need neither.
"""

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
    whole = _without_slice(value)
    view = None if isinstance(whole.owner, ir.Block) else whole.owner.operation
    if view is None or view.name != "memref.collapse_shape":
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
    spans = [[(own[dim], sizes[dim]) for dim in dims] for dims in collapsed(whole)]
    found = spread(read, dict(zip(dimensions(map_), spans, strict=True)), map_.n_dims)
    return found if found is not None and found.steps else None


def _without_slice(value: ir.Value) -> ir.Value:
    """What `value` is the first elements of along each dimension; itself where it is no slice."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name != "memref.subview":
        return value
    offsets = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    strides = ir.DenseI64ArrayAttr(op.attributes["static_strides"])
    source = op.operands[0]
    keeps_rank = ir.MemRefType(source.type).rank == ir.MemRefType(value.type).rank
    is_first = all(each == 0 for each in offsets) and all(each == 1 for each in strides)
    return source if keeps_rank and is_first else value


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
