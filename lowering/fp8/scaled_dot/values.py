"""Producers of values, which types hold which numbers, and constants behind broadcasts."""

import math
from fractions import Fraction

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat, NonFinite
from mlir_fp8.dialects.float_reference import decode, encode
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape, names

_SPREADING = names("stablehlo", "broadcast broadcast_in_dim reshape slice transpose")


def shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(value.type).shape)


def format_of(element: ir.Type | None) -> FloatFormat | None:
    return FORMATS.get(str(element))


def is_small(value: ir.Value) -> bool:
    """Whether `value` is a tensor of f8, f6 or f4 that can be an operand of a scaled dot."""
    return str(element_type(value)) in DATA_TYPES and has_static_shape(value)


def holds(outer: ir.Type | None, inner: ir.Type | None) -> bool:
    """Whether a convert from `inner` to `outer`, both floats, never rounds."""
    wide, narrow = format_of(outer), format_of(inner)
    if wide is None or narrow is None:
        return False
    return wide == narrow or (
        wide.nonfinite is NonFinite.IEEE754
        and narrow.mantissa_bits <= wide.mantissa_bits
        and narrow.max <= wide.max
        and narrow.smallest_subnormal >= wide.smallest_subnormal
    )


def rounded(number: float, element: ir.Type) -> float:
    """`number` converted to the float type `element`."""
    fmt = FORMATS[str(element)]
    if math.isnan(number) and not fmt.has_nan:
        return 0.0
    exact = number if math.isnan(number) or math.isinf(number) or not number else Fraction(number)
    return float(decode(fmt, encode(fmt, exact)))


def splat_number(value: ir.Value) -> float | None:
    """The one number that all elements of a constant float tensor are; None for all else."""
    return _splat(value) if format_of(element_type(value)) is not None else None


def _splat(value: ir.Value) -> float | None:
    op = producer(value)
    if op is None:
        return None
    if op.name in _SPREADING:
        return _splat(op.operands[0])
    if op.name == "stablehlo.convert":
        number, element = _splat(op.operands[0]), ir.RankedTensorType(value.type).element_type
        return None if number is None or not format_of(element) else rounded(number, element)
    if op.name != "stablehlo.constant":
        return None
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    splat = attribute.get_splat_value()
    if isinstance(splat, ir.FloatAttr):
        return splat.value
    # Bounds of jnp.clip may be integers.
    if not isinstance(splat, ir.IntegerAttr) or ir.IntegerType(splat.type).width == 1:
        return None
    return float(splat.value) if abs(splat.value) <= 1 << 53 else None


def is_positive_zero(value: ir.Value) -> bool:
    number = splat_number(value)
    return number == 0 and math.copysign(1.0, number) > 0
