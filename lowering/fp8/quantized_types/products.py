"""Products of quantized values: sums of integers where StableHLO has them, else of floats."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects._fp8_attributes import SIZES
from mlir_fp8.dialects._fp8_product_parts import Product, product_parts
from mlir_fp8.dialects._fp8_product_shapes import shape_attributes
from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.lowering.fp8.quantized_types.constants import known_numbers, scale_constant
from mlir_fp8.lowering.fp8.quantized_types.layouts import Layout
from mlir_fp8.lowering.rewriting.stablehlo import build_op, element_type, with_element

_DROPPED = ("saturate", "d_inverse")


@dataclass(frozen=True)
class Operand:
    """A value of a quantized type, and its scales."""

    value: ir.Value
    layout: Layout


def split_result(op: ir.Operation) -> None:
    """Let a scaled product that gives f8 by a known scale give wide floats, quantized apart."""
    result = op.results[0]
    if str(element_type(result)) not in DATA_TYPES:
        return
    parts = product_parts(op)
    if parts.d_scale is not None and known_numbers(parts.d_scale) is None:
        return
    wide = with_element(result.type, parts.epilogue_type)
    sizes = list(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    sizes[-1] = 0
    operands = list(op.operands)[: sum(sizes)]  # the scale of the result is the last
    attributes = {name: op.attributes[name] for name in op.attributes if name not in _DROPPED}
    attributes[SIZES] = ir.DenseI32ArrayAttr.get(sizes)
    with ir.InsertionPoint(op), op.location:
        types = [wide, *(each.type for each in list(op.results)[1:])]
        made = ir.Operation.create(op.name, types, operands, attributes)
        scale = parts.d_scale or scale_constant(np.ones((), np.float32))
        codes = fp8.quantize(
            made.results[0],
            scale,
            result.type.element_type,
            inverse=parts.d_inverse,
            saturate=parts.saturate,
        )
    replace_op(op, [codes, *list(made.results)[1:]])


def has_integer_form(parts: Product, left: Layout, right: Layout) -> bool:
    """Whether StableHLO's own product takes the operands in their quantized types.

    It has one scale on the left, and on the right one, or one for each result's feature.
    """
    if left.axis is not None or left.counts or right.counts:
        return False
    is_free = right.axis is None or _result_axis(parts, right.axis) is not None
    return is_free and _product_of(left, right).is_usable


def integer_sum(parts: Product, left: Operand, right: Operand) -> ir.Value:
    """The scaled sum, f32, of a product of both, whose own result is stored in i32."""
    factors = _product_of(left.layout, right.layout).numbers
    axis = None if right.layout.axis is None else _result_axis(parts, right.layout.axis)
    wide = with_element(parts.op.results[0].type, ir.F32Type.get())
    word = ir.IntegerType.get_signless(32)
    type_ = Layout(factors, axis).type_of(word, None, ir.RankedTensorType(wide).shape)
    name = "stablehlo.dot_general" if parts.is_dot else "stablehlo.convolution"
    result = with_element(wide, type_)
    total = build_op(name, result, [left.value, right.value], shape_attributes(parts.op))
    return build_op("stablehlo.uniform_dequantize", wide, [total])


def _product_of(left: Layout, right: Layout) -> Layout:
    """The scales of products, each rounded to f32."""
    return right.times(left.numbers[0])


def _result_axis(parts: Product, axis: int) -> int | None:
    """The dimension of the result that dimension `axis` of the right operand becomes, if it is a
    free one of a dot, or the output features of a convolution."""
    if not parts.is_dot:
        conv = _stablehlo.ConvDimensionNumbers(parts.op.attributes["dimension_numbers"])
        is_output = axis == conv.kernel_output_feature_dimension
        return conv.output_feature_dimension if is_output else None
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    taken = [*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions]
    rank = ir.RankedTensorType(parts.b.type).rank
    free = [dim for dim in range(rank) if dim not in taken]
    if axis not in free:
        return None
    return ir.RankedTensorType(parts.op.results[0].type).rank - len(free) + free.index(axis)
