"""What a scaled product must be: each rule that one may break, with the reason."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_attributes import (
    FLAG,
    SIZES,
    Form,
    attributes_refusal,
    one_of,
    sizes_form,
    type_among,
)
from mlir_fp8.dialects._fp8_product_parts import (
    ACTIVATIONS,
    FLAGS,
    OPERANDS,
    Product,
    product_parts,
)
from mlir_fp8.dialects._fp8_product_shapes import (
    CONVOLUTION_ATTRIBUTES,
    DOT_ATTRIBUTES,
    are_dimensions,
    shapes_refusal,
)
from mlir_fp8.dialects._fp8_scales import (
    DATA_TYPES,
    WIDE_TYPES,
    element_refusal,
    scale_refusal,
    tensor_refusal,
)
from mlir_fp8.dialects.float_formats import PRODUCT_FAMILIES

STEP_TYPES = ("bf16", "f16", "f32")
"""What operands are dequantized to, sums rounded to, and epilogues computed in."""


_FLOAT: Form = ("a float of epilogue_type", lambda attribute: isinstance(attribute, ir.FloatAttr))
_EPILOGUE: dict[str, Form] = {
    SIZES: sizes_form(OPERANDS, 2),
    **dict.fromkeys(FLAGS, FLAG),
    **dict.fromkeys(("operand_type", "dot_type", "epilogue_type"), type_among(STEP_TYPES)),
    "accumulation_type": type_among(("f32",)),
    "alpha": _FLOAT,
    "beta": _FLOAT,
    "activation": one_of(ACTIVATIONS),
}


_ANY: Form = ("what stablehlo.convolution takes", lambda attribute: True)
_DOT: dict[str, Form] = {
    "dot_dimension_numbers": ("a #stablehlo.dot<...>", _stablehlo.DotDimensionNumbers.isinstance),
    **_EPILOGUE,
}
_CONVOLUTION: dict[str, Form] = {
    **dict.fromkeys(CONVOLUTION_ATTRIBUTES, _ANY),
    "dimension_numbers": ("a #stablehlo.conv<...>", _stablehlo.ConvDimensionNumbers.isinstance),
    **_EPILOGUE,
}


def product_refusal(op: ir.Operation) -> str:
    """What is wrong with a `fp8.scaled_dot` or `fp8.scaled_convolution`, or nothing."""
    is_dot = op.name == "fp8.scaled_dot"
    required = (SIZES, *(DOT_ATTRIBUTES if is_dot else ("dimension_numbers",)))
    reason = (
        attributes_refusal(op, _DOT if is_dot else _CONVOLUTION, required)
        or _counts_refusal(op)
        or _tensors_refusal(op)
    )
    if reason:
        return reason
    if not is_dot:
        numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        if not are_dimensions(numbers):
            return "has dimension_numbers in which a side does not name each dimension once"
    parts = product_parts(op)
    return (
        _formats_refusal(parts)
        or shapes_refusal(op)
        or _scales_refusal(parts)
        or _epilogue_refusal(parts)
        or _results_refusal(parts)
    )


def _counts_refusal(op: ir.Operation) -> str:
    count = sum(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    if count != len(op.operands):
        return f"has {len(op.operands)} operands, {count} by {SIZES}"
    if len(op.results) not in (1, 2):
        return f"has {len(op.results)} results: it gives a tensor, and with the flag amax a scalar"
    return ""


def _tensors_refusal(op: ir.Operation) -> str:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    names = [name for name, size in zip(OPERANDS, sizes, strict=True) if size]
    values = [*op.operands, *op.results]
    for value, name in zip(values, [*names, "a result", "a result"], strict=False):
        if reason := tensor_refusal(value.type, name):
            return reason
    return ""


def _tensor(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def _formats_refusal(parts: Product) -> str:
    a, b = _tensor(parts.a), _tensor(parts.b)
    return (
        element_refusal(a, "a", DATA_TYPES)
        or element_refusal(b, "b", DATA_TYPES)
        or families_refusal(a, b)
    )


def families_refusal(a: ir.RankedTensorType, b: ir.RankedTensorType) -> str:
    """What keeps the small floats of `a` and `b` from being multiplied, or nothing."""
    formats = {str(a.element_type), str(b.element_type)}
    if not any(formats <= family for family in PRODUCT_FAMILIES):
        return (
            f"multiplies {a.element_type} by {b.element_type}, which no hardware does: "
            "they are of different families of formats; convert one of them"
        )
    return ""


def _scales_refusal(parts: Product) -> str:
    for name, data in (("a", parts.a), ("b", parts.b), ("d", parts.op.results[0])):
        scale = getattr(parts, f"{name}_scale")
        if scale is None and getattr(parts, f"{name}_inverse"):
            return f"has the flag {name}_inverse without {name}_scale: drop it"
        if scale is None:
            continue
        reason = scale_refusal(_tensor(scale), _tensor(data), f"{name}_scale")
        if not reason and name != "d" and parts.operand_type is None:
            reason = _sum_scale_refusal(parts, name, _tensor(scale))
        if reason:
            return reason
    return ""


def _sum_scale_refusal(parts: Product, name: str, scale: ir.RankedTensorType) -> str:
    """What keeps a scale from being that of the sum, as it is without `operand_type`."""
    if scale.rank == 0:
        return ""
    advice = "give operand_type, in which the operand is scaled before it is multiplied"
    if not parts.is_dot:
        return f"has {name}_scale of type {scale}, which does not scale sums: {advice}"
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    sides = {"a": numbers.lhs_contracting_dimensions, "b": numbers.rhs_contracting_dimensions}
    for dim in sides[name]:
        if scale.shape[dim] != 1:
            return (
                f"has {name}_scale of type {scale}, which changes along the contracting "
                f"dimension {dim}: {advice}"
            )
    return ""


def _epilogue_refusal(parts: Product) -> str:
    attributes, result = parts.op.attributes, _tensor(parts.op.results[0])
    for name in ("alpha", "beta"):
        if name in attributes and ir.FloatAttr(attributes[name]).type != parts.epilogue_type:
            return f"has {name} = {attributes[name]}: it is of epilogue_type {parts.epilogue_type}"
    if parts.c is None and parts.beta is not None:
        return "has beta without c: drop it"
    if parts.c is not None:
        c = _tensor(parts.c)
        if list(c.shape) != list(result.shape):
            return f"has c of type {c}: it has the shape of the result {result}"
        if reason := element_refusal(c, "c", (*DATA_TYPES, *WIDE_TYPES)):
            return reason
    return _bias_refusal(parts)


def _bias_refusal(parts: Product) -> str:
    if parts.bias is None:
        return ""
    bias, result = _tensor(parts.bias), _tensor(parts.op.results[0])
    if result.rank == 0:
        return "has a bias on a result of rank 0: add it as c"
    size = result.shape[parts.bias_dimension]
    if list(bias.shape) != [size]:
        which = "last" if parts.is_dot else "output feature"
        return f"has bias of type {bias}: it has {size} elements, one for each {which} index"
    return element_refusal(bias, "bias", WIDE_TYPES)


def _results_refusal(parts: Product) -> str:
    result = _tensor(parts.op.results[0])
    if reason := element_refusal(result, "a result", (*DATA_TYPES, *WIDE_TYPES)):
        return reason
    if parts.saturate and str(result.element_type) not in DATA_TYPES:
        return f"saturates to {result.element_type}: only f8, f6 and f4 results are clamped"
    amax = list(parts.op.results)[1:]
    wanted = [f"tensor<{parts.epilogue_type}>"] if parts.amax else []
    if [str(value.type) for value in amax] != wanted:
        given = amax[0].type if amax else "none"
        return f"has an amax result {given}: it is {wanted[0] if wanted else 'none'}"
    return ""
