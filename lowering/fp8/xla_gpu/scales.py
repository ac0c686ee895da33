"""The scales of a product in the forms that XLA:GPU's matchers take.

A dequantize is matched where its scale has rank 0 and is broadcast as it is: XLA loses a dot whose
scale is converted before (openxla/xla#17887). What is not of that form can only scale the sum: a
dot of the f8 values themselves has no dequantize that could be lost.
"""

import dataclasses
import math

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.fp8 import Product
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.rewriting.stablehlo import build, convert

_OPTION = "give allow-reassociation to scale the sum instead, which rounds elsewhere"


def matched_scales(parts: Product, *, allow_reassociation: bool) -> Product:
    """`parts` with scales that XLA matches; raises where that would round elsewhere.

    With `allow_reassociation`, scales that are not matched multiply the f32 sum, after the
    rounding to `operand_type` that was theirs, as one factor where both have rank 0.
    """
    parts = dataclasses.replace(
        parts,
        a_scale=_plain(parts.a_scale, parts.operand_type),
        b_scale=_plain(parts.b_scale, parts.operand_type),
        d_scale=_behind_epilogue(parts, _plain(parts.d_scale, None)),
    )
    if parts.operand_type is not None:
        reasons = [_reason(parts, "a"), _reason(parts, "b")]  # either may raise
        reason = reasons[0] or reasons[1]
        if reason and not (allow_reassociation and parts.is_dot):
            raise op_error(parts.op, reason + (_OPTION if parts.is_dot else "scale per tensor"))
        if reason:
            parts = _behind(parts)
    is_summed = parts.is_dot and parts.operand_type is None
    return _combined(parts) if allow_reassociation and is_summed else parts


def is_scalar(scale: ir.Value | None) -> bool:
    return scale is not None and ir.RankedTensorType(scale.type).rank == 0


def _plain(scale: ir.Value | None, element: ir.Type | None) -> ir.Value | None:
    """One number as rank 0, a constant in the type `element` of its step."""
    if scale is None:
        return None
    type_ = ir.RankedTensorType(scale.type)
    if math.prod(type_.shape) != 1:
        return scale
    scalar = ir.RankedTensorType.get([], type_.element_type)
    if element is not None and (value := _constant(scale)) is not None:
        return number(ir.RankedTensorType.get([], element), value)
    return scale if type_.rank == 0 else build("reshape", scalar, [scale])


def _behind_epilogue(parts: Product, scale: ir.Value | None) -> ir.Value | None:
    """The scale of the result, not as a constant where XLA would make it the factor of the sum.

    `HandleMultiply` of gemm_rewriter.cc makes a constant factor alpha, whatever the product has
    fused by then: in front of a bias or a GELU. Constants may come from where a function is called.
    """
    fuses = parts.bias is not None or parts.activation == "gelu_tanh"
    if scale is None or not (parts.is_dot and fuses and is_scalar(scale)) or _is_argument(scale):
        return scale
    return build("optimization_barrier", scale.type, [scale])


def _is_argument(value: ir.Value) -> bool:
    """Whether `value` comes from outside of the module."""
    if not isinstance(value.owner, ir.Block):
        return False
    function = value.owner.owner.operation
    private = str(function.attributes.get("sym_visibility")) == '"private"'
    return function.name == "func.func" and not private


def _defining(value: ir.Value, name: str) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    return op if op.name == f"stablehlo.{name}" else None


def _constant(scale: ir.Value) -> float | None:
    """The one number of a constant, converted by the program or not."""
    op = _defining(scale, "constant")
    if op is None:
        return None
    return ir.FloatAttr(ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()).value


def _reason(parts: Product, name: str) -> str:
    """Why the scale of operand `name` does not stand in a dequantize that XLA matches."""
    scale: ir.Value | None = getattr(parts, f"{name}_scale")
    if scale is None:
        return ""
    type_ = ir.RankedTensorType(scale.type)
    if type_.rank:
        return _shape_reason(parts, name, type_)
    if not parts.is_dot:
        return ""
    wanted = parts.operand_type
    if type_.element_type != wanted:
        return (
            f"has {name}_scale of {type_.element_type}, converted to {wanted} before it is "
            f"broadcast, with which XLA:GPU loses the FP8 dot: pass it as {wanted}, or "
        )
    reshape = _defining(scale, "reshape")
    if _defining(reshape.operands[0] if reshape else scale, "convert") is not None:
        return (
            f"has {name}_scale from a convert, with which XLA:GPU loses the FP8 dot: dequantize "
            f"in the type that the scale has before, or "
        )
    return ""


def _shape_reason(parts: Product, name: str, type_: ir.RankedTensorType) -> str:
    reason = f"has {name}_scale of type {type_}, XLA:GPU takes one number for the whole tensor: "
    if not parts.is_dot:
        return reason
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    sides = {"a": numbers.lhs_contracting_dimensions, "b": numbers.rhs_contracting_dimensions}
    if any(type_.shape[dim] != 1 for dim in sides[name]):
        advice = "it differs within a sum, so that it cannot scale the sum either; scale per row"
        raise op_error(parts.op, f"{reason}{advice} or per tensor")
    return f"{reason}scale per tensor, or "


def _behind(parts: Product) -> Product:
    return dataclasses.replace(
        parts,
        operand_type=None,
        a_scale=_rounded(parts.a_scale, parts.operand_type),
        b_scale=_rounded(parts.b_scale, parts.operand_type),
    )


def _rounded(scale: ir.Value | None, element: ir.Type | None) -> ir.Value | None:
    """`scale` in f32, rounded to `element` as in the dequantize that it leaves."""
    if scale is None or element is None:
        return scale
    return convert(convert(scale, element), ir.F32Type.get())


def _combined(parts: Product) -> Product:
    """Both scales as one factor of the sum, which XLA makes the scale of the first operand."""
    a, b = parts.a_scale, parts.b_scale
    if a is None or b is None or not (is_scalar(a) and is_scalar(b)):
        return parts
    a, b = (convert(each, ir.F32Type.get()) for each in (a, b))
    if parts.a_inverse == parts.b_inverse:
        one = build("multiply", a.type, [a, b])
        return dataclasses.replace(parts, a_scale=one, b_scale=None, b_inverse=False)
    over, under = (b, a) if parts.a_inverse else (a, b)
    one = build("divide", a.type, [over, under])
    return dataclasses.replace(parts, a_scale=one, b_scale=None, a_inverse=False, b_inverse=False)
