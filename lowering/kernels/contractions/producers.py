"""Producers that fuse with a contraction: of its operands, and the zero fill of its result."""

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.bit_packed import packed_leaf
from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    are_distinct,
    is_elementwise,
    written,
)
from mlir_fp8.lowering.kernels.contractions.leaves import collapsed, operand_leaf, spread
from mlir_fp8.lowering.kernels.contractions.panels import panel_leaf
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf, body_slice
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions, indexing_maps

_MAX_LEAVES = 3


def producer_of(
    reader: ir.Operation,
    order: BlockOrder,
    buffer: ir.Value,
    map_: ir.AffineMap,
    *,
    panels: bool = False,
) -> Expression | None:
    """The elementwise producer of `buffer`, where it can fuse with `reader`.

    `map_` is the reader's indexing map; strides are along its dimensions.
    """
    op = _last_writer(buffer, reader, order)
    if op is None or not order.comes_before(op, reader):
        return None
    maps = indexing_maps(op)
    *inputs, _ = op.operands
    if not maps[-1].is_permutation:
        return None
    block = op.regions[0].blocks[0]
    root = list(block.operations)[-1].operation.operands[0]
    found = body_slice(root)
    if found is None or not found[1] or list(block.arguments)[-1] in found[1]:
        return None
    buffers = [each for each in inputs if isinstance(each.type, ir.MemRefType)]
    if not all(are_distinct(each, buffer) for each in buffers):  # else it would apply twice
        return None
    if not all(order.is_unchanged(each, op, reader) for each in buffers):
        return None
    sources: dict[ir.Value, Leaf | ir.Value] = {}
    parts = collapsed(buffer)
    own = dimensions(maps[-1])
    sizes = ir.MemRefType(op.operands[len(maps) - 1].type).shape
    for argument in found[1]:
        number = list(block.arguments).index(argument)
        value, own_map = op.operands[number], maps[number]
        read = panel_leaf(value, own_map, order, op, reader) if panels else None
        read = read or operand_leaf(value, own_map)
        if read is None:
            return None
        spans = [[(own[dim], sizes[dim]) for dim in dims] for dims in parts]
        read = packed_leaf(read, order, op, reader)
        moved = spread(read, dict(zip(dimensions(map_), spans, strict=True)), map_.n_dims)
        if moved is None or (moved.steps and not panels):
            return None
        sources[argument] = moved
    expression = Expression(root, sources)
    return expression if _is_dequantization(expression, map_) else None


def _is_dequantization(expression: Expression, map_: ir.AffineMap) -> bool:
    """Whether it reads one full-size buffer, and only scales beside it: fusing saves traffic."""
    leaves = expression.leaves
    rank = len(map_.results)
    whole = [
        leaf
        for leaf in leaves
        if len([step for step in leaf.strides if step]) == rank and not leaf.is_repeated
    ]
    return len(leaves) <= _MAX_LEAVES and len(whole) <= 1


def _last_writer(buffer: ir.Value, reader: ir.Operation, order: BlockOrder) -> ir.Operation | None:
    """The elementwise op that gives an allocation, which may be used again, what `reader` reads."""
    view = None if isinstance(buffer.owner, ir.Block) else buffer.owner.operation
    is_collapsed = view is not None and view.name == "memref.collapse_shape"
    made = view.operands[0] if view is not None and is_collapsed else buffer
    if isinstance(made.owner, ir.Block) or made.owner.operation.name != "memref.alloc":
        return None
    op = order.last_writer(made, reader)
    if op is None or written(op) != [made] or not is_elementwise(op):
        return None
    return op


def zero_fill(reader: ir.Operation, order: BlockOrder, out: ir.Value) -> ir.Operation | None:
    """The op that zeroes `out`, if it is the last write before `reader`.

    It is a fill, or a copy of zeros. Other ops may read in between.
    """
    op = order.last_writer(out, reader)
    if op is None or written(op) != [out]:
        return None
    if op.name == "memref.copy":
        return op if _copies_zero(op, order) else None
    return op if _fills_with_zero(op) else None


def _copies_zero(copy: ir.Operation, order: BlockOrder) -> bool:
    """Whether zeros are copied: of the same block, or from before a loop or branch."""
    source = copy.operands[0]
    if zero_fill(copy, order, source) is not None:
        return True
    op = order.outer_writer(source, copy)
    return op is not None and written(op) == [source] and _fills_with_zero(op)


def is_unread(fill: ir.Operation, reader: ir.Operation, order: BlockOrder) -> bool:
    """Whether only `reader` reads what `fill` writes."""
    return not order.is_read_between(fill.operands[len(fill.operands) - 1], fill, reader)


def _fills_with_zero(op: ir.Operation) -> bool:
    if not is_elementwise(op):
        return False
    yielded = list(op.regions[0].blocks[0].operations)[-1].operation.operands[0]
    if isinstance(yielded.owner, ir.Block):
        if yielded.owner != op.regions[0].blocks[0]:
            return False
        number = ir.BlockArgument(yielded).arg_number
        if number == len(op.operands) - 1:
            return False
        yielded = op.operands[number]
        if isinstance(yielded.owner, ir.Block):
            return False
    constant = yielded.owner.operation
    return constant.name == "arith.constant" and str(constant.attributes["value"]) in (
        "0.000000e+00 : f32",
        "0 : i32",
    )
