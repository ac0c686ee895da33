"""Dots with scales of blocks as XLA has them: names, and the forms of their attributes."""

from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_product_parts import Product

CUSTOM_CALL = "__op$block_scaled_dot"
"""Of operands `[B, M, K]`, `[B, N, K]` and their scales, in xla/service/gpu/cublas_cudnn.h."""
COMPOSITE = "xla.scaled_dot"
"""Of a composite as JAX writes it, and of a custom call that HLO's `scaled-dot` is read as."""
CONFIG = "scaled_dot_backend_config"
DIMENSIONS = "dimension_numbers"
PREFERRED = "preferred_element_type"
DEQUANTIZE_TYPES = {"BF16": "bf16", "F16": "f16", "F32": "f32"}
_SCALES = {"f8E8M0FNU", "f8E4M3FN"}
_PLAIN = "has an epilogue, which this form has not: fp8-legalize-to-stablehlo writes it out"


def nested_integers(attribute: ir.Attribute) -> Any:
    """The integers of an attribute, in lists as it has them; `TypeError` for any other."""
    if isinstance(attribute, ir.ArrayAttr):
        return [nested_integers(each) for each in attribute]
    if isinstance(attribute, ir.IntegerAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.DenseIntElementsAttr):
        return [attribute[index] for index in range(len(attribute))]
    raise TypeError(f"{attribute} is no list of integers")


def no_block_scaled_dot(parts: Product) -> str:
    """Why a product is no dot of block-scaled operands alone; nothing if it is."""
    if parts.a_scale is None or parts.b_scale is None or parts.operand_type is None:
        return "scales its sum, or has a scale of one operand alone"
    if parts.a_inverse or parts.b_inverse:
        return "divides by a scale: multiply by its reciprocal"
    elements = {
        str(ir.RankedTensorType(each.type).element_type) for _, each in scaled_operands(parts)
    }
    if not elements <= _SCALES:
        return f"has scales of {' and '.join(sorted(elements - _SCALES))}, where this form has f8"
    numbers = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
    contracting = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    if any(len(dims) != 1 for dims in contracting):
        return "sums over several dimensions, or none: blocks run along one"
    counts: set[int] = set()
    for (data, scale), (dim,) in zip(scaled_operands(parts), contracting, strict=True):
        shape, sizes = (list(ir.RankedTensorType(each.type).shape) for each in (data, scale))
        if not sizes:
            return "has one scale for a whole operand"
        if any(size not in (1, shape[d]) for d, size in enumerate(sizes) if d != dim):
            return "has blocks along a dimension that is not summed"
        counts.add(sizes[dim])
    if len(counts) != 1:
        return "has blocks of two sizes"
    others = (parts.c, parts.bias, parts.d_scale, parts.alpha)
    is_plain = all(each is None for each in others) and parts.activation == "none"
    if not is_plain or parts.amax or parts.saturate:
        return _PLAIN
    element = ir.RankedTensorType(parts.op.results[0].type).element_type
    if str(element) not in DEQUANTIZE_TYPES.values():
        return f"gives {element}, where this form gives bf16, f16 or f32"
    rounded = {parts.dot_type, parts.epilogue_type} - {ir.F32Type.get(parts.op.context)}
    return "" if rounded <= {element} else "rounds its sum to another type than the result's"


def scaled_operands(parts: Product) -> list[tuple[ir.Value, ir.Value]]:
    """The operands of a product of two scaled ones, each with its scale."""
    assert parts.a_scale is not None and parts.b_scale is not None
    return [(parts.a, parts.a_scale), (parts.b, parts.b_scale)]
