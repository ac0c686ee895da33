"""Producers that fuse with a contraction: of its operands, and the zero fill of its result."""

import itertools
from dataclasses import replace

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    are_distinct,
    is_elementwise,
    written,
)
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf, body_slice
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions, indexing_maps
from mlir_fp8.lowering.rewriting.stablehlo import names

_MAX_LEAVES = 3
_RESHAPES = names("memref", "cast collapse_shape expand_shape")


def producer_of(
    reader: ir.Operation, order: BlockOrder, buffer: ir.Value, map_: ir.AffineMap
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
    parts = _collapsed(buffer)
    own = dimensions(maps[-1])
    sizes = ir.MemRefType(op.operands[len(maps) - 1].type).shape
    for argument in found[1]:
        number = list(block.arguments).index(argument)
        read = operand_leaf(op.operands[number], maps[number])
        if read is None:
            return None
        strides, groups = [0] * map_.n_dims, [1] * map_.n_dims
        for mine, dims in zip(dimensions(map_), parts, strict=True):
            steps = [(read.strides[own[dim]], sizes[dim]) for dim in dims if sizes[dim] > 1]
            merged = _merged(steps)
            if merged is None:
                return None
            strides[mine], groups[mine] = merged
        kept = tuple(groups) if max(groups, default=1) > 1 else ()
        sources[argument] = replace(read, strides=tuple(strides), groups=kept)
    expression = Expression(root, sources)
    return expression if _is_dequantization(expression, map_) else None


def _collapsed(buffer: ir.Value) -> list[list[int]]:
    """The dimensions of the allocation that each of `buffer`, which may collapse them, spans."""
    op = None if isinstance(buffer.owner, ir.Block) else buffer.owner.operation
    if op is None or op.name != "memref.collapse_shape":
        return [[dim] for dim in range(ir.MemRefType(buffer.type).rank)]
    groups = ir.ArrayAttr(op.attributes["reassociation"])
    return [[ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(each)] for each in groups]


def _merged(steps: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The stride of dimensions, strides with sizes, as one, and for how many indices it steps.

    None where they are not evenly apart.
    """
    group = 1
    while steps and not steps[-1][0]:
        group *= steps.pop()[1]
    if not steps:
        return 0, 1
    for (outer, _), (inner, size) in itertools.pairwise(steps):
        if outer != inner * size:
            return None
    return steps[-1][0], group


def _is_dequantization(expression: Expression, map_: ir.AffineMap) -> bool:
    """Whether it reads one full-size buffer, and only scales beside it: fusing saves traffic."""
    leaves = expression.leaves
    rank = len(map_.results)
    whole = [
        leaf
        for leaf in leaves
        if len([step for step in leaf.strides if step]) == rank and not leaf.groups
    ]
    return len(leaves) <= _MAX_LEAVES and len(whole) <= 1


def operand_leaf(value: ir.Value, map_: ir.AffineMap) -> Leaf | None:
    """As `buffer_leaf`, or in a slice of a buffer that begins at offsets of the program."""
    leaf, type_ = buffer_leaf(value, map_), value.type
    if leaf is not None or not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return leaf
    subview = value
    while not isinstance(subview.owner, ir.Block) and subview.owner.operation.name in _RESHAPES:
        subview = subview.owner.operation.operands[0]
    op = None if isinstance(subview.owner, ir.Block) else subview.owner.operation
    if op is None or op.name != "memref.subview" or not _is_static(op.operands[0].type):
        return None
    steps, _ = type_.get_strides_and_offset()
    return None if min(steps, default=0) < 0 else _strided(value, map_, steps, 0, op)


def _is_static(type_: ir.MemRefType) -> bool:
    steps, offset = type_.get_strides_and_offset()
    return type_.has_static_shape and all(number >= 0 for number in [*steps, offset])


def offset_of(subview: ir.Operation) -> ir.Value:
    """The offset of a `memref.subview` in its buffer, in elements, at the insertion point."""
    steps, start = ir.MemRefType(subview.operands[0].type).get_strides_and_offset()
    total = arith.constant(ir.IndexType.get(), start)
    given = iter(list(subview.operands)[1:])
    for offset, step in zip(
        ir.DenseI64ArrayAttr(subview.attributes["static_offsets"]), steps, strict=True
    ):
        index = next(given) if offset < 0 else arith.constant(ir.IndexType.get(), offset)
        step_value = arith.constant(ir.IndexType.get(), step)
        total = arith.addi(total, arith.muli(index, step_value))
    return total


def buffer_leaf(value: ir.Value, map_: ir.AffineMap) -> Leaf | None:
    """A buffer of static layout as `map_` reads it; None where it is not strided."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return None
    steps, offset = type_.get_strides_and_offset()
    if any(number < 0 for number in [*steps, offset]):
        return None
    return _strided(value, map_, steps, offset)


def _strided(
    value: ir.Value,
    map_: ir.AffineMap,
    steps: list[int],
    offset: int,
    subview: ir.Operation | None = None,
) -> Leaf | None:
    strides = [0] * map_.n_dims
    for result, step in zip(map_.results, steps, strict=True):
        if isinstance(result, ir.AffineDimExpr):
            strides[result.position] += step
        elif isinstance(result, ir.AffineConstantExpr):
            offset += result.value * step
        else:
            return None
    return Leaf(value, tuple(strides), offset, subview)


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
    return (
        constant.name == "arith.constant"
        and str(constant.attributes["value"]) == "0.000000e+00 : f32"
    )
