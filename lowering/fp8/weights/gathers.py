"""Rows looked up in a table of codes, and their scales, looked up by the same indices."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.lowering.fp8.ops.scaling import broadcast
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.rewriting.stablehlo import build, convert

_WIDTH = 32
"""Bits of an index that holds every size of a block."""


def gather_blocks(op: ir.Operation, blocks: Blocks) -> Blocks | None:
    """The blocks of a `stablehlo.gather` from a table of `blocks`.

    Of each dimension of the table an index takes one element, or all. None for other gathers.
    """
    numbers = _numbers(op)
    if list(numbers.operand_batching_dims):
        return None
    table = list(ir.RankedTensorType(op.operands[0].type).shape)
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    if any(size not in (1, whole) for size, whole in zip(sizes, table, strict=True)):
        return None
    indexed = set(numbers.start_index_map)
    collapsed = set(numbers.collapsed_slice_dims)
    kept = [dim for dim in range(len(table)) if dim not in collapsed]
    # The scale of a row belongs to the index: each index has its own.
    offsets = dict(zip(numbers.offset_dims, kept, strict=True))
    is_taken = any(blocks[dim] for dim in indexed if table[dim] > 1)
    rank = ir.RankedTensorType(op.results[0].type).rank
    return tuple(
        _kept(offsets[at], blocks, table, sizes) if at in offsets else int(is_taken)
        for at in range(rank)
    )


def _kept(dim: int, blocks: Blocks, table: list[int], sizes: list[int]) -> int:
    """The block of a dimension that is in the result: one element of more has one scale."""
    return 0 if sizes[dim] == 1 and table[dim] > 1 else blocks[dim]


def gathered_scale(
    op: ir.Operation, scale: ir.Value, blocks: Blocks, result_type: ir.Type
) -> ir.Value:
    """The scales, of `result_type`, of what the gather `op` takes from codes of `scale`."""
    numbers, type_ = _numbers(op), ir.RankedTensorType(result_type)
    own = list(ir.RankedTensorType(scale.type).shape)
    table = list(ir.RankedTensorType(op.operands[0].type).shape)
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    taken = [
        1 if size == 1 and whole > 1 else mine
        for size, whole, mine in zip(sizes, table, own, strict=True)
    ]
    indices = _block_indices(op, [blocks[dim] for dim in numbers.start_index_map])
    batch = [at for at in range(type_.rank) if at not in set(numbers.offset_dims)]
    result = list(ir.RankedTensorType(op.results[0].type).shape)
    shape = [result[at] if at in batch else size for at, size in enumerate(type_.shape)]
    gathered = ir.RankedTensorType.get(shape, type_.element_type)
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["slice_sizes"] = ir.DenseI64ArrayAttr.get(taken)
    value = build("gather", gathered, [scale, indices], attributes)
    if list(type_.shape) == shape:
        return value
    # One scale for all rows: the first is as good as any.
    zeros = ir.DenseI64ArrayAttr.get([0] * type_.rank)
    ones = ir.DenseI64ArrayAttr.get([1] * type_.rank)
    limits = ir.DenseI64ArrayAttr.get(list(type_.shape))
    bounds = {"start_indices": zeros, "limit_indices": limits, "strides": ones}
    return build("slice", type_, [value], bounds)


def _block_indices(op: ir.Operation, divisors: list[int]) -> ir.Value:
    """The indices of blocks: those of elements over the size of the blocks; 0 for the only one.

    Clamping to the table, which a gather does, gives the scale of the element that it takes.
    """
    indices = op.operands[1]
    if all(block <= 1 for block in divisors):
        return indices
    element = ir.RankedTensorType(indices.type).element_type
    if ir.IntegerType(element).width < _WIDTH:
        indices = convert(indices, ir.IntegerType.get_signless(_WIDTH))
    type_ = ir.RankedTensorType(indices.type)
    at = _numbers(op).index_vector_dim
    is_vector = at < type_.rank
    listed = f"[{', '.join(str(block or 1) for block in divisors)}]" if is_vector else divisors[0]
    vector = ir.RankedTensorType.get([len(divisors)] if is_vector else [], type_.element_type)
    constant = build(
        "constant", vector, [], {"value": ir.Attribute.parse(f"dense<{listed}> : {vector}")}
    )
    return build("divide", type_, [indices, broadcast(constant, type_, [at] if is_vector else [])])


def _numbers(op: ir.Operation) -> _stablehlo.GatherDimensionNumbers:
    return _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
