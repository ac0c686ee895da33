"""Dots that read a cache: codes enter the sum, and scales multiply what is smaller."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import replace_op
from mlir_fp8.lowering.fp8.ops.products import dot_numbers
from mlir_fp8.lowering.fp8.ops.scaling import rescale_along, with_shape
from mlir_fp8.lowering.fp8.scaling.replacement import scales_sum
from mlir_fp8.lowering.fp8.weights.products import multiply_codes
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, with_element


def attend(op: ir.Operation, side: int, cache: Scaled) -> None:
    """Replace the dot `op`, whose operand `side` is what `cache` stands for.

    A scale that is one for all that a result sums multiplies the sum (the scores of keys). One that
    differs along the sum, and not along what the operand gives, multiplies the other operand (the
    shares that values are weighted by), in f32. Any other multiplies the codes.
    """
    targets = None if scales_sum(op, side, cache.scale) else _other_dims(op, side, cache.scale)
    if targets is None:
        multiply_codes(op, {side: cache})
        return
    f32 = ir.F32Type.get()
    result = op.results[0]
    with ir.InsertionPoint(op), op.location:
        other = convert(op.operands[1 - side], f32)
        kept = sorted(targets, key=targets.__getitem__)
        scale = _permuted(cache.scale, kept)
        other = rescale_along(other, scale, [targets[dim] for dim in kept], divide=False)
        codes = convert(cache.codes, f32)
        operands = [codes, other] if side == 0 else [other, codes]
        attributes = {name: op.attributes[name] for name in op.attributes}
        attributes["dot_dimension_numbers"] = dot_numbers(op)
        value = build("dot_general", with_element(result.type, f32), operands, attributes)
        replace_op(op, [convert(value, element_type(result) or f32)])


def _other_dims(op: ir.Operation, side: int, scale: ir.Value) -> dict[int, int] | None:
    """The dimension of the other operand for each that is summed or repeated over.

    None where the scale differs along another.
    """
    numbers = _stablehlo.DotDimensionNumbers(dot_numbers(op))
    pairs = [
        (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)),
        (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)),
    ]
    found = {pair[side][i]: pair[1 - side][i] for pair in pairs for i in range(len(pair[side]))}
    sizes = ir.RankedTensorType(scale.type).shape
    return found if all(size == 1 or dim in found for dim, size in enumerate(sizes)) else None


def _permuted(scale: ir.Value, kept: list[int]) -> ir.Value:
    """The dimensions `kept` of `scale`, in that order; all others are of size 1."""
    shape = list(ir.RankedTensorType(scale.type).shape)
    order = [*kept, *(dim for dim in range(len(shape)) if dim not in kept)]
    if order != sorted(order):
        permutation = {"permutation": ir.DenseI64ArrayAttr.get(order)}
        type_ = with_shape(scale, [shape[dim] for dim in order])
        scale = build("transpose", type_, [scale], permutation)
    if len(kept) == len(shape):
        return scale
    return build("reshape", with_shape(scale, [shape[dim] for dim in kept]), [scale])
