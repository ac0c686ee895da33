"""Ragged dots of small floats in CHLO: `fp8.scaled_ragged_dot`, and scales of groups of rows."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_ragged_parts import SIZE_TYPES, numbers_refusal, ragged_parts
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.fp8.ops.scaling import number, rescale, rescale_along, spread
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, with_element


def scaled_ragged_dot(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """`chlo.ragged_dot` and StableHLO of an `fp8.scaled_ragged_dot` on `operands`, at the current
    insertion point.

    The small floats are bf16 before, which holds all of them: StableHLO multiplies no two formats.
    """
    parts = ragged_parts(op, operands)
    precision = "DEFAULT" if parts.fast_accum else "HIGHEST"
    level = f"#chlo<precision {precision}>"
    attributes = {
        NUMBERS: op.attributes[NUMBERS],
        "precision_config": ir.ArrayAttr.parse(f"[{level}, {level}]"),
    }
    bf16, f32 = ir.BF16Type.get(), ir.F32Type.get()
    given = [convert(parts.a, bf16), convert(parts.b, bf16), parts.group_sizes]
    type_ = with_element(op.results[0].type, f32)
    x = ir.Operation.create(RAGGED_DOT, [type_], given, attributes).results[0]
    for side, scale in enumerate((parts.a_scale, parts.b_scale)):
        if scale is not None:
            x = scaled_ragged_sum(op, x, side, convert(scale, f32), parts.group_sizes)
    return [convert(x, element_type(op.results[0]) or f32)]


def has_scaled_form(op: ir.Operation, scales: Sequence[ir.Value | None] = ()) -> bool:
    """Whether a `chlo.ragged_dot` is one of those that `fp8.scaled_ragged_dot` scales.

    `scales` are those of its sum; blocks of what is not contracted are none that the op has.
    """
    a, b, sizes = (ir.RankedTensorType(each.type) for each in op.operands)
    is_known = str(sizes.element_type) in SIZE_TYPES and sizes.rank == 1
    for data, scale in zip((a, b), scales, strict=False):
        shape = [] if scale is None else ir.RankedTensorType(scale.type).shape
        is_known &= all(size in (1, of) for size, of in zip(shape, data.shape, strict=False))
    return is_known and not numbers_refusal(ragged_numbers(op), (a.rank, b.rank))


def scaled_ragged_sum(
    op: ir.Operation, x: ir.Value, side: int, scale: ir.Value, group_sizes: ir.Value
) -> ir.Value:
    """`x`, f32, of the shape of the result of `op`, a ragged dot, times the scale of a `side`, f32.

    The scale has rank 0; or that of the operand and size 1 along what is contracted; or one number
    for each group. Each row has the scales of its group: those of the right operand come of a
    ragged dot of ones by scales.
    """
    rank = ir.RankedTensorType(scale.type).rank
    if not rank:
        return rescale(x, scale, divide=False)
    numbers = ragged_numbers(op)
    if numbers["lhs_ragged"] == numbers["lhs_contracting"]:
        return _scaled_sums_of_groups(x, side, scale)
    lhs = list(ir.RankedTensorType(op.operands[0].type).shape)
    if rank == 1:
        (group,) = numbers["rhs_group"]
        sizes = ir.RankedTensorType(scale.type).shape
        wide = [sizes[0] if dim == group else 1 for dim in range(3)]
        scale = build("reshape", ir.RankedTensorType.get(wide, ir.F32Type.get()), [scale])
    if side == 1 or rank == 1:
        for dim in numbers["lhs_contracting"]:
            lhs[dim] = 1
        ones = number(ir.RankedTensorType.get(lhs, ir.F32Type.get()), 1.0)
        rhs = list(ir.RankedTensorType(op.operands[1].type).shape)
        whole = [1 if dim in numbers["rhs_contracting"] else size for dim, size in enumerate(rhs)]
        type_ = ir.RankedTensorType.get(whole, ir.F32Type.get())
        # One for all channels, for a block of them, or for all experts.
        scale = spread(scale, type_, range(len(whole)))
        attributes = {NUMBERS: op.attributes[NUMBERS]}
        operands = [ones, scale, group_sizes]
        factor = ir.Operation.create(RAGGED_DOT, [x.type], operands, attributes).results[0]
        return build("multiply", x.type, [x, factor])
    free = [dim for dim in range(len(lhs)) if dim not in numbers["lhs_contracting"]]
    kept = [*numbers["lhs_batching"], *(d for d in free if d not in numbers["lhs_batching"])]
    sizes = ir.RankedTensorType(scale.type).shape
    moved = _permuted(scale, [*kept, *numbers["lhs_contracting"]], [sizes[dim] for dim in kept])
    return rescale_along(x, moved, list(range(len(kept))), divide=False)


def _scaled_sums_of_groups(x: ir.Value, side: int, scale: ir.Value) -> ir.Value:
    """Of a matrix for each group: the scale is one of groups, or of a matrix of two dimensions."""
    type_ = ir.RankedTensorType(scale.type)
    if type_.rank == 1:
        return rescale_along(x, scale, [0], divide=False)
    vector = ir.RankedTensorType.get([max(type_.shape)], type_.element_type)
    return rescale_along(x, build("reshape", vector, [scale]), [1 + side], divide=False)


def _permuted(scale: ir.Value, order: list[int], shape: list[int]) -> ir.Value:
    """`scale` with its dimensions in `order`, of which those beyond `shape` are of size 1."""
    type_ = ir.RankedTensorType(scale.type)
    if order != sorted(order):
        sizes = [type_.shape[dim] for dim in order]
        transposed = ir.RankedTensorType.get(sizes, type_.element_type)
        permutation = ir.DenseI64ArrayAttr.get(order)
        scale = build("transpose", transposed, [scale], {"permutation": permutation})
    return build("reshape", ir.RankedTensorType.get(shape, type_.element_type), [scale])
