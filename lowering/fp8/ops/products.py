"""Scaled products in StableHLO: `fp8.scaled_dot` and `fp8.scaled_convolution`."""

import math
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_product_parts import Product, product_parts
from mlir_fp8.dialects._fp8_product_shapes import result_dimensions, shape_attributes
from mlir_fp8.dialects.chlo_ragged_dots import NAMES, RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.fp8.ops.scaling import (
    broadcast,
    largest,
    number,
    rescale,
    rescale_along,
    to_element,
)
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, with_element


def scaled_product(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of a scaled product on `operands`, at the current insertion point."""
    parts = product_parts(op, operands)
    return after_sum(parts, _sum(parts))


def after_sum(parts: Product, total: ir.Value) -> list[ir.Value]:
    """What a scaled product makes of the scaled sum, in f32: its results."""
    op = parts.op
    x = convert(convert(total, parts.dot_type), parts.epilogue_type)
    x = _ACTIVATIONS[parts.activation](_linear(parts, x))
    amax = [largest(build("abs", x.type, [x]), 0.0)] if parts.amax else []
    if parts.d_scale is not None:
        x = rescale(x, parts.d_scale, divide=not parts.d_inverse)
    element = ir.RankedTensorType(op.results[0].type).element_type
    return [to_element(x, element, saturate=parts.saturate), *amax]


def _sum(parts: Product) -> ir.Value:
    """The sum in f32, scaled."""
    if parts.operand_type is not None:
        a = _dequantized(parts.a, parts.a_scale, parts.a_inverse, parts.operand_type)
        b = _dequantized(parts.b, parts.b_scale, parts.b_inverse, parts.operand_type)
        return plain_product(parts, a, b)
    a, b = parts.a, parts.b
    # StableHLO multiplies no two formats, and its interpreter is wrong for convolutions of f8.
    if element_type(a) != element_type(b) or not parts.is_dot:
        a, b = (convert(each, ir.F32Type.get()) for each in (a, b))
    x = plain_product(parts, a, b)
    scales = ((parts.a_scale, parts.a_inverse), (parts.b_scale, parts.b_inverse))
    for side, (scale, divide) in enumerate(scales):
        if scale is not None:
            x = scaled_sum(parts.op, x, side, scale, divide=divide)
    return x


def _dequantized(q: ir.Value, scale: ir.Value | None, inverse: bool, element: ir.Type) -> ir.Value:
    wide = convert(q, element)
    return wide if scale is None else rescale(wide, scale, divide=inverse)


def plain_product(parts: Product, a: ir.Value, b: ir.Value) -> ir.Value:
    """The dot or convolution itself, with an f32 result."""
    precision = "DEFAULT" if parts.fast_accum else "HIGHEST"
    config = ir.ArrayAttr.parse(f"[{', '.join([f'#stablehlo<precision {precision}>'] * 2)}]")
    attributes = {**shape_attributes(parts.op), "precision_config": config}
    name = "dot_general" if parts.is_dot else "convolution"
    type_ = with_element(parts.op.results[0].type, ir.F32Type.get())
    return build(name, type_, [a, b], attributes)


def scaled_sum(
    op: ir.Operation, x: ir.Value, side: int, scale: ir.Value, *, divide: bool = False
) -> ir.Value:
    """`x`, the sum of `op`, times the scale of operand `side`, or over it, in the type of `x`.

    `op` is a product whose result has the shape of `x`. The scale has rank 0, or of a dot the rank
    of the operand and size 1 along what is contracted: its dimensions are the result's, moved.
    """
    if ir.RankedTensorType(scale.type).rank == 0:
        return rescale(x, scale, divide=divide)
    numbers = dot_numbers(op)
    rank_a, rank_b = (ir.RankedTensorType(each.type).rank for each in list(op.operands)[:2])
    batching, free_a, free_b = result_dimensions(rank_a, rank_b, numbers)
    first = len(batching)
    if side == 0:
        kept = [*batching, *free_a]
        moved = range(first + len(free_a))
    else:
        of = _stablehlo.DotDimensionNumbers(numbers)
        kept = [*of.rhs_batching_dimensions, *free_b]
        free = range(first + len(free_a), first + len(free_a) + len(free_b))
        moved = [*range(first), *free]
    return rescale_along(x, _permuted(scale, kept), list(moved), divide=divide)


def dot_numbers(op: ir.Operation) -> ir.Attribute:
    """The `#stablehlo.dot` of a `dot_general`, of a `stablehlo.dot`, or of an `fp8.scaled_dot`; of
    a ragged batch, which is that dot."""
    if op.name == RAGGED_DOT:
        numbers = ragged_numbers(op)
        lists: list[Any] = [numbers[each] for each in NAMES[:4]]
        return _stablehlo.DotDimensionNumbers.get(*lists)
    if op.name != "stablehlo.dot":
        return op.attributes["dot_dimension_numbers"]
    last = ir.RankedTensorType(op.operands[0].type).rank - 1
    numbers = f"lhs_contracting_dimensions = [{last}], rhs_contracting_dimensions = [0]"
    return ir.Attribute.parse(f"#stablehlo.dot<{numbers}>")


def _permuted(scale: ir.Value, kept: list[int]) -> ir.Value:
    """The dimensions `kept` of `scale`, in that order; all others are of size 1."""
    type_ = ir.RankedTensorType(scale.type)
    order = [*kept, *(i for i in range(type_.rank) if i not in kept)]
    if order != sorted(order):
        shape = [type_.shape[i] for i in order]
        transposed = ir.RankedTensorType.get(shape, type_.element_type)
        permutation = ir.DenseI64ArrayAttr.get(order)
        scale = build("transpose", transposed, [scale], {"permutation": permutation})
    if len(kept) == type_.rank:
        return scale
    shape = [type_.shape[i] for i in kept]
    return build("reshape", ir.RankedTensorType.get(shape, type_.element_type), [scale])


def _linear(parts: Product, x: ir.Value) -> ir.Value:
    """alpha * x + beta * c + bias, each step in the epilogue's type."""
    type_ = x.type
    if parts.alpha is not None:
        x = build("multiply", type_, [x, number(type_, parts.alpha)])
    if parts.c is not None:
        c = convert(parts.c, parts.epilogue_type)
        if parts.beta is not None:
            c = build("multiply", type_, [c, number(type_, parts.beta)])
        x = build("add", type_, [x, c])
    if parts.bias is not None:
        bias = convert(parts.bias, parts.epilogue_type)
        x = build("add", type_, [x, broadcast(bias, type_, [parts.bias_dimension])])
    return x


def _relu(x: ir.Value) -> ir.Value:
    return build("maximum", x.type, [x, number(x.type, 0.0)])


def _gelu_tanh(x: ir.Value) -> ir.Value:
    """`jax.nn.gelu`."""
    cube = _times(x, _times(x, x))
    inner = build("add", x.type, [x, _times(cube, number(x.type, 0.044715))])
    scaled = _times(inner, number(x.type, math.sqrt(2 / math.pi)))
    tanh = build("tanh", x.type, [scaled])
    raised = build("add", x.type, [tanh, number(x.type, 1.0)])
    return _times(x, _times(raised, number(x.type, 0.5)))


def _gelu_erf(x: ir.Value) -> ir.Value:
    """`jax.nn.gelu(approximate=False)`; erfc is in f32, as it is for narrow floats everywhere."""
    element = ir.RankedTensorType(x.type).element_type
    scaled = _times(build("negate", x.type, [x]), number(x.type, math.sqrt(0.5)))
    wide = convert(scaled, ir.F32Type.get())
    erfc = ir.Operation.create("chlo.erfc", results=[wide.type], operands=[wide]).results[0]
    return _times(_times(number(x.type, 0.5), x), convert(erfc, element))


def _times(x: ir.Value, y: ir.Value) -> ir.Value:
    return build("multiply", x.type, [x, y])


_ACTIVATIONS = {
    "none": lambda x: x,
    "relu": _relu,
    "gelu_tanh": _gelu_tanh,
    "gelu_erf": _gelu_erf,
}
