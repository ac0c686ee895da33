"""Quantized types, and the StableHLO specification's formulas for them.

A quantized tensor is stored as integers; the number that one stands for is
(stored - zero point) * scale, in the expressed type.
"""

from dataclasses import dataclass
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import quant as quant_dialect

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import build, with_element

# The bindings have no stubs for its types.
quant: Any = quant_dialect
_UNIFORM = (quant.UniformQuantizedType, quant.UniformQuantizedPerAxisType)


@dataclass(frozen=True)
class Quantization:
    """One scale and zero point, or one each per index of dimension `axis`."""

    storage: ir.Type
    """Signless or, for unsigned storage, unsigned: StableHLO's own spelling of integers."""
    expressed: ir.Type
    least: int
    largest: int
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None


def storage_type(type_: Any) -> ir.Type:
    """The integer type that holds a quantized element; any other element type itself."""
    if not isinstance(type_, _UNIFORM):
        return type_
    width = ir.IntegerType(type_.storage_type).width
    signless = ir.IntegerType.get_signless(width, type_.context)
    return signless if type_.is_signed else ir.IntegerType.get_unsigned(width, type_.context)


def is_quantized(value: ir.Value) -> bool:
    return isinstance(element_type(value.type), quant.QuantizedType)


def quantization(op: ir.Operation, value: ir.Value) -> Quantization | None:
    """How the elements of `value`, an operand or result of `op`, are quantized; None if not."""
    type_: Any = element_type(value.type)
    if not is_quantized(value):
        return None
    if not isinstance(type_, _UNIFORM):
        reason = f"is of {type_}: only per-tensor and per-axis quantization is compiled"
        raise op_error(op, reason)
    if not isinstance(type_.storage_type, ir.IntegerType):
        raise op_error(op, f"is of {type_}, whose storage is no integer")
    expressed = FORMATS.get(str(type_.expressed_type))
    if expressed is None or max(type_.storage_type_max, -type_.storage_type_min) > expressed.max:
        raise op_error(op, f"is of {type_}, whose storage goes beyond the expressed type's range")
    if isinstance(type_, quant.UniformQuantizedType):
        scales, zeros, axis = (type_.scale,), (type_.zero_point,), None
    else:
        scales, zeros = tuple(type_.scales), tuple(type_.zero_points)
        axis = type_.quantized_dimension
    return Quantization(
        storage_type(type_),
        type_.expressed_type,
        type_.storage_type_min,
        type_.storage_type_max,
        scales,
        zeros,
        axis,
    )


def dequantize(value: ir.Value, q: Quantization) -> ir.Value:
    """`value`, stored integers, as the numbers of the expressed type that it stands for.

    The zero point is subtracted exactly; converting and scaling round in the expressed type.
    """
    # One bit more than the storage has would do.
    width = 64 if ir.IntegerType(q.storage).width > 16 else 32
    wide = with_element(value.type, ir.IntegerType.get_signless(width))
    number = build("convert", wide, [value])
    if any(q.zero_points):
        zeros = _per_axis(wide, [str(zero) for zero in q.zero_points], q)
        number = build("subtract", wide, [number, zeros])
    floats = with_element(value.type, q.expressed)
    number = build("convert", floats, [number])
    return scaled(number, q)


def scaled(number: ir.Value, q: Quantization) -> ir.Value:
    """Numbers of the expressed type times the scales."""
    floats = number.type
    return build("multiply", floats, [number, _per_axis(floats, _texts(q.scales), q)])


def quantize(value: ir.Value, q: Quantization, result: ir.Type) -> ir.Value:
    """Numbers of the expressed type as stored integers, to nearest even, clamped to the storage.

    `result`, the type that the value has, is still the quantized one.
    """
    floats = value.type
    number = build("divide", floats, [value, _per_axis(floats, _texts(q.scales), q)])
    if any(q.zero_points):
        zeros = _per_axis(floats, _texts(q.zero_points), q)
        number = build("add", floats, [number, zeros])
    bounds = [_splat(floats, f"{bound}.0") for bound in (q.least, q.largest)]
    number = build("clamp", floats, [bounds[0], number, bounds[1]])
    number = build("round_nearest_even", floats, [number])
    return build("convert", result, [number])


def _texts(numbers: tuple[float, ...] | tuple[int, ...]) -> list[str]:
    # Not `repr`: MLIR does not read 1e-05, which has no point.
    return [f"{float(number):.17e}" for number in numbers]


def _per_axis(tensor: ir.Type, texts: list[str], q: Quantization) -> ir.Value:
    if q.axis is None:
        return _splat(tensor, texts[0])
    line = ir.RankedTensorType.get([len(texts)], element_type(tensor))
    value = ir.Attribute.parse(f"dense<[{', '.join(texts)}]> : {line}")
    dims = ir.DenseI64ArrayAttr.get([q.axis])
    constant = build("constant", line, [], {"value": value})
    return build("broadcast_in_dim", tensor, [constant], {"broadcast_dimensions": dims})


def _splat(tensor: ir.Type, text: str) -> ir.Value:
    value = ir.Attribute.parse(f"dense<{text}> : {tensor}")
    return build("constant", tensor, [], {"value": value})
