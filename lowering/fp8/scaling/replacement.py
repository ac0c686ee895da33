"""A dot or convolution replaced by a scaled product of codes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, RAGGED_DOT, is_ragged_batch
from mlir_fp8.dialects.fp8 import ProductOptions
from mlir_fp8.lowering.fp8.ops.products import dot_numbers
from mlir_fp8.lowering.fp8.ops.ragged import has_scaled_form
from mlir_fp8.lowering.fp8.ops.scaling import rescale, with_shape
from mlir_fp8.lowering.fp8.scaling.block_operands import whole_blocks
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_convolution
from mlir_fp8.lowering.fp8.scaling.gradients import ATTRIBUTE
from mlir_fp8.lowering.fp8.scaling.selection import SKIP
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type


def replace_product(
    op: ir.Operation, sides: Sequence[Scaled], gradient: str, numbers: ir.Attribute | None = None
) -> None:
    """Replace `op` by a scaled product of `sides`: the codes and the scale of each operand.

    The sum is scaled where one scale is that of all that is summed for a result; else operands
    are dequantized to f32 before. So are those of ragged dots that are no `fp8.scaled_ragged_dot`.
    `numbers` are those of a dot of `sides`, where they are others than those of `op`. Blocks along
    a summed dimension are filled up with zeros.
    """
    is_ragged = op.name == RAGGED_DOT and not is_ragged_batch(op)
    if is_ragged and not is_scaled_ragged(op, dict(enumerate(sides))):
        _dequantize_operands(op, sides, gradient)
        return
    element = ir.RankedTensorType(op.results[0].type).element_type
    factors = [(side, each.factor) for side, each in enumerate(sides) if each.factor is not None]
    made = ir.F32Type.get() if factors else element
    # As flax and TransformerEngine: gradients are summed with all bits.
    is_fast = gradient == "none" and not _wants_all_bits(op)
    with ir.InsertionPoint(op), op.location:
        if is_ragged:
            product = _ragged(op, sides, made, fast_accum=is_fast)
        else:
            product = _scaled(op, sides, made, numbers, fast_accum=is_fast)
        new = ir.OpResult(product).owner.operation
        if factors:
            rank = ir.RankedTensorType(product.type).rank
            of_result = [_of_result(op, side, each, numbers, rank) for side, each in factors]
            product = convert(rescale(product, _product_of(of_result), divide=False), element)
    for name in op.attributes:
        if "." in name and name != SKIP:
            new.attributes[name] = op.attributes[name]
    new.attributes[ATTRIBUTE] = ir.StringAttr.get(gradient)
    replace_op(op, [product])


def is_scaled_ragged(op: ir.Operation, sides: Mapping[int, Scaled]) -> bool:
    """Whether a ragged dot of both `sides` is an `fp8.scaled_ragged_dot`, or a scaled dot of
    batches: their scales are those of its results, and f32 but for batches."""
    in_order = [sides[side] for side in sorted(sides)]
    scales = [each.scale for each in in_order]
    at_sum = all(scales_sum(op, side, each.scale) for side, each in sides.items())
    are_f32 = all(str(element_type(each)) == "f32" for each in scales)
    is_known = is_ragged_batch(op) or (are_f32 and has_scaled_form(op, scales))
    return is_known and at_sum and all(each.is_whole for each in in_order)


def _ragged(
    op: ir.Operation, sides: Sequence[Scaled], element: ir.Type, *, fast_accum: bool
) -> ir.Value:
    a, b = sides
    return fp8.scaled_ragged_dot(
        *(a.codes, b.codes, op.operands[2]),
        ragged_dot_dimension_numbers=op.attributes[NUMBERS],
        result_element=element,
        a_scale=a.scale,
        b_scale=b.scale,
        fast_accum=fast_accum,
    )


def _scaled(
    op: ir.Operation,
    sides: Sequence[Scaled],
    element: ir.Type,
    numbers: ir.Attribute | None,
    *,
    fast_accum: bool,
) -> ir.Value:
    a, b = (_filled(op, side, each, numbers) for side, each in enumerate(sides))
    at_sum = all(scales_sum(op, side, each.scale, numbers) for side, each in enumerate((a, b)))
    shared: ProductOptions = {
        "a_scale": a.scale,
        "b_scale": b.scale,
        "operand_type": None if at_sum else ir.F32Type.get(),
        "fast_accum": fast_accum,
    }
    if is_convolution(op):
        attributes = {name: op.attributes[name] for name in op.attributes if "." not in name}
        attributes.pop("precision_config", None)
        (product,) = fp8.scaled_convolution(
            a.codes, b.codes, convolution=attributes, result_element=element, **shared
        )
        return product
    of = numbers or dot_numbers(op)
    (product,) = fp8.scaled_dot(
        a.codes, b.codes, dot_dimension_numbers=of, result_element=element, **shared
    )
    return product


def _of_result(
    op: ir.Operation, side: int, factor: ir.Value, numbers: ir.Attribute | None, rank: int
) -> ir.Value:
    """A factor of operand `side` as one of the result of `rank`, whose batches come first."""
    sizes = list(ir.RankedTensorType(factor.type).shape)
    if not sizes:
        return factor
    of = _stablehlo.DotDimensionNumbers(numbers or dot_numbers(op))
    batching = (of.lhs_batching_dimensions, of.rhs_batching_dimensions)[side]
    shape = [sizes[dim] for dim in batching]
    shape += [1] * (rank - len(shape))
    return factor if shape == sizes else build("reshape", with_shape(factor, shape), [factor])


def _product_of(factors: Sequence[ir.Value]) -> ir.Value:
    first, *others = sorted(factors, key=lambda each: -ir.RankedTensorType(each.type).rank)
    for each in others:
        first = rescale(first, each, divide=False)
    return first


def summed_dim(op: ir.Operation, side: int, numbers: ir.Attribute | None) -> int:
    """The last dimension that operand `side` is summed over."""
    return _summed_dims(op, side, numbers)[-1]


def _summed_dims(op: ir.Operation, side: int, numbers: ir.Attribute | None) -> list[int]:
    if numbers is None:
        return contracting_dims(op, side)
    of = _stablehlo.DotDimensionNumbers(numbers)
    return list((of.lhs_contracting_dimensions, of.rhs_contracting_dimensions)[side])


def _filled(op: ir.Operation, side: int, scaled: Scaled, numbers: ir.Attribute | None) -> Scaled:
    """`scaled` with zeros in the last block of what is summed, as ops of `fp8` have it."""
    if scaled.is_whole or is_convolution(op):
        return scaled
    dim = summed_dim(op, side, numbers)
    return replace(scaled, codes=whole_blocks(scaled.codes, dim, scaled.blocks[dim]))


def scales_sum(
    op: ir.Operation, side: int, scale: ir.Value, numbers: ir.Attribute | None = None
) -> bool:
    """Whether `scale`, of operand `side`, is the same for all that `op` sums for a result."""
    shape = list(ir.RankedTensorType(scale.type).shape)
    if not shape:
        return True
    summed = _summed_dims(op, side, numbers)
    return not is_convolution(op) and all(shape[dim] == 1 for dim in summed)


def _dequantize_operands(op: ir.Operation, sides: Sequence[Scaled], gradient: str) -> None:
    """Let a ragged dot that has no scaled form read what codes and scale stand for, in f32."""
    for side, each in enumerate(sides):
        with ir.InsertionPoint(op), op.location:
            op.operands[side] = each.wide(ir.F32Type.get())
    if SKIP in op.attributes:
        del op.attributes[SKIP]
    op.attributes[ATTRIBUTE] = ir.StringAttr.get(gradient)


def _wants_all_bits(op: ir.Operation) -> bool:
    return "precision_config" in op.attributes and "HIGH" in str(op.attributes["precision_config"])
