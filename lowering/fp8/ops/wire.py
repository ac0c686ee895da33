"""The form in which attributes of `fp8` ops travel in a `stablehlo.composite`, and back.

StableHLO's artifacts hold no unit attributes, no attributes of ops other than the composite, no
quantized types but some of integers, and give arrays back as dense elements. So a flag is `true` or
absent, dimension numbers are an entry for each of their fields, as quantized types are for each of
their parts, and arrays are dense elements from the start. What else an op has (types, strings,
numbers, padding) is held as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_attributes import SIZES
from mlir_fp8.dialects._fp8_product_shapes import are_dimensions
from mlir_fp8.dialects.chlo_ragged_dots import (
    NAMES,
    NUMBERS,
    is_ragged_attribute,
    ragged_attribute,
    read_numbers,
)
from mlir_fp8.lowering.fp8.ops.uniform import type_from_wire, type_to_wire

VERSION = 1
"""Of every composite that is written. It rises when what an op means, or this form, changes."""

UNIFORM = ("fp8.uniform_dequantize", "fp8.uniform_quantize")
"""Ops whose type travels in parts."""
_DOT, _CONVOLUTION = "dot_dimension_numbers", "dimension_numbers"
_DOT_FIELDS = (
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
)
_CONVOLUTION_FIELDS = (
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
)
_I64_ARRAYS = ("window_strides", "lhs_dilation", "rhs_dilation")


def to_wire(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The `composite_attributes` of an `fp8` op; those of others (`jax.x`) are not among them."""
    if op.name in UNIFORM:
        return type_to_wire(op)
    entries: dict[str, ir.Attribute] = {}
    for name in op.attributes:
        if "." in name:
            continue
        attribute = op.attributes[name]
        if attribute == ir.BoolAttr.get(False):
            continue
        if name == _DOT:
            numbers = _stablehlo.DotDimensionNumbers(attribute)
            entries.update({each: _dense(getattr(numbers, each)) for each in _DOT_FIELDS})
        elif name == _CONVOLUTION:
            numbers = _stablehlo.ConvDimensionNumbers(attribute)
            entries.update({each: _field(getattr(numbers, each)) for each in _CONVOLUTION_FIELDS})
        elif name == NUMBERS and is_ragged_attribute(attribute):
            numbers = read_numbers(attribute)
            entries.update({f"{each}_dimensions": _dense(numbers[each]) for each in NAMES})
        else:
            entries[name] = _value(attribute)
    return entries


def _value(attribute: ir.Attribute) -> ir.Attribute:
    match attribute:
        case ir.UnitAttr():
            return ir.BoolAttr.get(True)
        case ir.DenseI32ArrayAttr() | ir.DenseI64ArrayAttr():
            return _dense(list(attribute))
        case ir.DenseBoolArrayAttr():
            return _dense(list(attribute), bits=1)
        case _:
            return attribute


def _field(value: int | Sequence[int]) -> ir.Attribute:
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return _dense(value)


def _dense(numbers: Sequence[int], bits: int = 64) -> ir.Attribute:
    element = ir.IntegerType.get_signless(bits)
    type_ = ir.RankedTensorType.get([len(numbers)], element)
    if not numbers:
        return ir.Attribute.parse(f"dense<> : {type_}")
    return ir.DenseElementsAttr.get([ir.IntegerAttr.get(element, each) for each in numbers], type_)


def from_wire(
    name: str, entries: Mapping[str, ir.Attribute], shape: Sequence[int]
) -> dict[str, ir.Attribute] | None:
    """The attributes of the op `name` that travelled as `entries`; None where they are no form.

    `shape` is that of its first result. Whether the op takes them is not asked here.
    """
    left = dict(entries)
    attributes: dict[str, ir.Attribute] = {}
    try:
        if name in UNIFORM:
            return type_from_wire(left, shape)
        if name == "fp8.scaled_dot":
            lists: list[Any] = [_numbers(left.pop(each)) for each in _DOT_FIELDS]
            attributes[_DOT] = _stablehlo.DotDimensionNumbers.get(*lists)
        if name == "fp8.scaled_ragged_dot":
            dims = {each: _numbers(left.pop(f"{each}_dimensions")) for each in NAMES}
            attributes[NUMBERS] = ragged_attribute(dims)
        if name == "fp8.scaled_convolution":
            parts: list[Any] = [_numbers_or_one(left.pop(each)) for each in _CONVOLUTION_FIELDS]
            numbers = _stablehlo.ConvDimensionNumbers.get(*parts)
            if not are_dimensions(numbers):
                return None
            attributes[_CONVOLUTION] = numbers
        for each, attribute in left.items():
            attributes[each] = _back(each, attribute)
    except (KeyError, TypeError, ValueError):
        return None
    return attributes


def _back(name: str, attribute: ir.Attribute) -> ir.Attribute:
    if name == SIZES:
        return ir.DenseI32ArrayAttr.get(_numbers(attribute))
    if name in _I64_ARRAYS:
        return ir.DenseI64ArrayAttr.get(_numbers(attribute))
    if name == "window_reversal":
        return ir.DenseBoolArrayAttr.get([bool(each) for each in _numbers(attribute, bits=1)])
    if attribute == ir.BoolAttr.get(True):
        return ir.UnitAttr.get()
    return attribute


def _numbers(attribute: ir.Attribute, bits: int = 64) -> list[int]:
    """Of dense elements, or of an array, as the same attribute is before it travels."""
    if isinstance(attribute, ir.DenseI64ArrayAttr if bits == 64 else ir.DenseBoolArrayAttr):
        return list(attribute)
    type_ = attribute.type
    if not isinstance(type_, ir.RankedTensorType) or str(type_.element_type) != f"i{bits}":
        raise ValueError(f"{attribute} is no list of numbers")
    elements = ir.DenseIntElementsAttr(attribute)
    return [elements[i] for i in range(len(elements))]


def _numbers_or_one(attribute: ir.Attribute) -> int | list[int]:
    if isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == "i64":
        return attribute.value
    return _numbers(attribute)
