"""Scales of experts: those of `chlo.ragged_dot`, whose rows belong to one of several matrices."""

from torch_mlir import ir

from mlir_fp8.lowering.fp8.ops.scaling import number, rescale, rescale_along
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.rewriting.stablehlo import build


def has_groups_of_rows(op: ir.Operation, scaled: Scaled) -> bool:
    """Whether a product has a scale for each of its results: a ragged dot of groups of rows.

    Where groups are of what is summed or batched over, only one scale for all is.
    """
    if op.name != RAGGED_DOT or not ir.RankedTensorType(scaled.scale.type).rank:
        return True
    numbers = ragged_numbers(op)
    return bool(numbers["rhs_group"])


def scaled_ragged_sum(op: ir.Operation, x: ir.Value, side: int, scale: ir.Value) -> ir.Value:
    """`x`, f32, of the shape of the result of `op`, a ragged dot, times the scale of a `side`.

    The scale has rank 0, or that of the operand and size 1 along what is contracted. Each row has
    the scales of its group: those of the right operand come of a ragged dot of ones by scales.
    """
    if not ir.RankedTensorType(scale.type).rank:
        return rescale(x, scale, divide=False)
    numbers = ragged_numbers(op)
    lhs = list(ir.RankedTensorType(op.operands[0].type).shape)
    if side == 1:
        for dim in numbers["lhs_contracting"]:
            lhs[dim] = 1
        ones = number(ir.RankedTensorType.get(lhs, ir.F32Type.get()), 1.0)
        rhs = list(ir.RankedTensorType(op.operands[1].type).shape)
        whole = [1 if dim in numbers["rhs_contracting"] else size for dim, size in enumerate(rhs)]
        dims = ir.DenseI64ArrayAttr.get(range(len(whole)))
        type_ = ir.RankedTensorType.get(whole, ir.F32Type.get())
        if scale.type != type_:  # one for all channels, or for all experts
            scale = build("broadcast_in_dim", type_, [scale], {"broadcast_dimensions": dims})
        key = "ragged_dot_dimension_numbers"
        attributes = {key: op.attributes[key]}
        operands = [ones, scale, op.operands[2]]
        factor = ir.Operation.create(RAGGED_DOT, [x.type], operands, attributes).results[0]
        return build("multiply", x.type, [x, factor])
    free = [dim for dim in range(len(lhs)) if dim not in numbers["lhs_contracting"]]
    kept = [*numbers["lhs_batching"], *(d for d in free if d not in numbers["lhs_batching"])]
    sizes = ir.RankedTensorType(scale.type).shape
    moved = _permuted(scale, [*kept, *numbers["lhs_contracting"]], [sizes[dim] for dim in kept])
    return rescale_along(x, moved, list(range(len(kept))), divide=False)


def _permuted(scale: ir.Value, order: list[int], shape: list[int]) -> ir.Value:
    """`scale` with its dimensions in `order`, of which those beyond `shape` are of size 1."""
    type_ = ir.RankedTensorType(scale.type)
    if order != sorted(order):
        sizes = [type_.shape[dim] for dim in order]
        transposed = ir.RankedTensorType.get(sizes, type_.element_type)
        permutation = ir.DenseI64ArrayAttr.get(order)
        scale = build("transpose", transposed, [scale], {"permutation": permutation})
    return build("reshape", ir.RankedTensorType.get(shape, type_.element_type), [scale])
