"""Codes of int8, and dots and convolutions of them, whose i32 sums are scaled."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects._fp8_product_shapes import CONVOLUTION_ATTRIBUTES
from mlir_fp8.lowering.fp8.ops.products import dot_numbers, scaled_sum
from mlir_fp8.lowering.fp8.ops.scaling import number, rescale
from mlir_fp8.lowering.fp8.scaling.contractions import is_convolution
from mlir_fp8.lowering.fp8.scaling.gradients import ATTRIBUTE
from mlir_fp8.lowering.fp8.scaling.selection import SKIP
from mlir_fp8.lowering.fp8.weights.code_formats import LARGEST_INT8
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, with_element


def scale_of_int8(amax: ir.Value) -> ir.Value:
    """amax / 127 in f32; 1 where that is below 2^-126; NaN and infinity stay."""
    scale = build("divide", amax.type, [amax, number(amax.type, float(LARGEST_INT8))])
    flags = with_element(amax.type, ir.IntegerType.get_signless(1))
    direction = ir.Attribute.parse("#stablehlo<comparison_direction LT>")
    operands = [scale, number(amax.type, 2.0**-126)]
    is_small = build("compare", flags, operands, {"comparison_direction": direction})
    return build("select", amax.type, [is_small, number(amax.type, 1.0), scale])


def replace_by_integers(op: ir.Operation, sides: Sequence[Scaled], gradient: str) -> None:
    """Replace `op`, a dot or convolution, by one of the codes of `sides`, whose sum is scaled."""
    f32, result = ir.F32Type.get(), ir.RankedTensorType(op.results[0].type)
    codes = [each.codes for each in sides]
    with ir.InsertionPoint(op), op.location:
        if is_convolution(op):
            kept = {name: op.attributes[name] for name in op.attributes}
            attributes = {name: kept[name] for name in CONVOLUTION_ATTRIBUTES if name in kept}
            name = "convolution"
        else:
            attributes, name = {"dot_dimension_numbers": dot_numbers(op)}, "dot_general"
        total = build(
            name, with_element(result, ir.IntegerType.get_signless(32)), codes, attributes
        )
        product = ir.OpResult(total).owner.operation
        x = convert(total, f32)
        for side, each in enumerate(sides):
            if ir.RankedTensorType(each.scale.type).rank:
                x = scaled_sum(op, x, side, each.scale)
            else:
                x = rescale(x, each.scale, divide=False)
        x = convert(x, result.element_type)
    for name in op.attributes:
        if "." in name and name != SKIP:
            product.attributes[name] = op.attributes[name]
    product.attributes[ATTRIBUTE] = ir.StringAttr.get(gradient)
    replace_op(op, [x])
