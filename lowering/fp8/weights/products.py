"""Products by f8 weights whose codes enter the sum, and scales the result where they can."""

from collections.abc import Mapping

from torch_mlir import ir

from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.lowering.fp8.ops.products import dot_numbers, scaled_sum
from mlir_fp8.lowering.fp8.ops.ragged import scaled_ragged_sum
from mlir_fp8.lowering.fp8.ops.scaling import rescale
from mlir_fp8.lowering.fp8.scaling.replacement import scales_sum
from mlir_fp8.lowering.fp8.weights.ragged import has_groups_of_rows
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type, with_element


def multiply_codes(op: ir.Operation, sides: Mapping[int, Scaled]) -> None:
    """Replace `op`, a product, by the sum in f32 of the codes in `sides`, then scaled.

    Codes become the other operand's type, which is exact. Where scales differ along the sum, the
    operands are f32, and codes are multiplied by their scales before, rounded to f32. The result
    is rounded once to the declared type, but for the products with scales in f32.
    """
    f32 = ir.F32Type.get()
    result = op.results[0]
    of_sum = {
        side: each
        for side, each in sides.items()
        if each.is_whole and scales_sum(op, side, each.scale) and has_groups_of_rows(op, each)
    }
    with ir.InsertionPoint(op), op.location:
        element = element_type(result) if len(of_sum) < len(sides) else None
        operands = []
        for side, operand in enumerate(list(op.operands)[:2]):
            if side in of_sum:
                operands.append(of_sum[side].codes)
            elif side in sides:
                operands.append(sides[side].wide(f32))
            else:
                operands.append(operand)
        common = f32 if element is not None else _common(op, sides)
        operands = [convert(each, common) for each in operands]
        attributes = {name: op.attributes[name] for name in op.attributes}
        name = op.name
        if name == "stablehlo.dot":
            name, attributes["dot_dimension_numbers"] = "stablehlo.dot_general", dot_numbers(op)
        wide = with_element(result.type, f32)
        operands += list(op.operands)[2:]
        value = ir.Operation.create(name, [wide], operands, attributes).results[0]
        for side, each in of_sum.items():
            scale = convert(each.scale, f32)
            if name == RAGGED_DOT:
                value = scaled_ragged_sum(op, value, side, scale, op.operands[2])
            else:
                value = scaled_sum(op, value, side, scale)
            if each.factor is not None:
                value = rescale(value, each.factor, divide=False)
        replace_op(op, [convert(value, element_type(result) or f32)])


def _common(op: ir.Operation, sides: Mapping[int, Scaled]) -> ir.Type:
    """The type of the operands that are no codes; bf16, which holds every f8, of codes alone."""
    wide = [
        element_type(each) for side, each in enumerate(list(op.operands)[:2]) if side not in sides
    ]
    return wide[0] or ir.F32Type.get() if wide else ir.BF16Type.get()
