"""Quantized types, and the StableHLO specification's formulas for them.

A quantized tensor is stored as integers, or as small floats, which types of MLIR take and ops of
StableHLO do not; the number that one stands for is (stored - zero point) * scale, in the expressed
type.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import quant as quant_dialect

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.interpreter.dense_values import constant_array
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, names, with_element

# The bindings have no stubs for its types.
quant: Any = quant_dialect
_UNIFORM = (
    quant.UniformQuantizedType,
    quant.UniformQuantizedPerAxisType,
    quant.UniformQuantizedSubChannelType,
)


# What moves elements, or hands them to a region that computes: the stored integers are moved.
MOVES = names(
    "stablehlo",
    "after_all all_gather all_reduce all_to_all bitcast_convert broadcast broadcast_in_dim case"
    " collective_broadcast collective_permute composite concatenate constant custom_call"
    " dynamic_slice dynamic_update_slice gather get_tuple_element if map optimization_barrier pad"
    " reduce reduce_scatter reduce_window reshape return reverse scatter select"
    " select_and_scatter slice sort torch_index_select transpose tuple while",
) | names("func", "call func return")  # fmt: skip
REFUSED = names("stablehlo", "convert reduce_precision rng")
"""What the specification has on no quantized type."""


@dataclass(frozen=True)
class Quantization:
    """One scale and zero point, one each per index of dimension `axis`, or per block.

    `blocks` has for each dimension that is cut into blocks their size; `scales` and `zero_points`
    are then in row-major order of the blocks, whose numbers along each dimension are `counts`.
    """

    storage: ir.Type
    """Signless or, for unsigned storage, unsigned: StableHLO's own spelling of integers. A float
    where floats are stored."""
    expressed: ir.Type
    least: int
    largest: int
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None
    blocks: tuple[tuple[int, int], ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def is_float(self) -> bool:
        """Whether small floats are stored."""
        return isinstance(self.storage, ir.FloatType)


def storage_type(type_: Any) -> ir.Type:
    """The integer or float type that holds a quantized element; any other element type itself."""
    if not isinstance(type_, _UNIFORM):
        return type_
    if isinstance(type_.storage_type, ir.FloatType):
        return type_.storage_type
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
        reason = f"is of {type_}: only quantization by known scales is compiled"
        raise op_error(op, reason)
    expressed = FORMATS.get(str(type_.expressed_type))
    if expressed is None or max(type_.storage_type_max, -type_.storage_type_min) > expressed.max:
        raise op_error(op, f"is of {type_}, whose storage goes beyond the expressed type's range")
    storage, kind = storage_type(type_), type_.expressed_type
    ends = (storage, kind, type_.storage_type_min, type_.storage_type_max)
    if isinstance(type_, quant.UniformQuantizedType):
        found = Quantization(*ends, (type_.scale,), (type_.zero_point,), None)
    elif isinstance(type_, quant.UniformQuantizedPerAxisType):
        axis = type_.quantized_dimension
        found = Quantization(*ends, tuple(type_.scales), tuple(type_.zero_points), axis)
    else:
        found = _of_blocks(op, value, type_, ends)
    if found.is_float and any(found.zero_points):
        raise op_error(op, f"is of {type_}: floats are stored without a zero point")
    return found


def _of_blocks(
    op: ir.Operation, value: ir.Value, type_: Any, ends: tuple[ir.Type, ir.Type, int, int]
) -> Quantization:
    """The quantization of a sub-channel type; blocks are whole."""
    sizes = dict(zip(type_.quantized_dimensions, type_.block_sizes, strict=True))
    scales = constant_array(type_.scales).astype(np.float64)
    shape = value.type.shape
    wanted = [-(-size // sizes[dim]) if dim in sizes else 1 for dim, size in enumerate(shape)]
    if not has_static_shape(value) or any(shape[dim] % size for dim, size in sizes.items()):
        raise op_error(op, f"is of {value.type}, whose blocks are not whole")
    if list(scales.shape) != wanted:
        raise op_error(op, f"is of {value.type}, which has {wanted} blocks")
    zeros = tuple(int(each) for each in np.array(type_.zero_points).ravel())
    found = tuple(float(each) for each in scales.ravel())
    return Quantization(*ends, found, zeros, None, tuple(sizes.items()), tuple(wanted))


def dequantize(value: ir.Value, q: Quantization) -> ir.Value:
    """`value`, stored integers, as the numbers of the expressed type that it stands for.

    The zero point is subtracted exactly; converting and scaling round in the expressed type.
    Stored floats are converted and scaled.
    """
    floats = with_element(value.type, q.expressed)
    if q.is_float:
        return scaled(build("convert", floats, [value]), q)
    number = value
    if any(q.zero_points):
        # One bit more than the storage has would do.
        width = 64 if ir.IntegerType(q.storage).width > 16 else 32
        wide = with_element(value.type, ir.IntegerType.get_signless(width))
        number = build("convert", wide, [value])
        zeros = _per_axis(wide, [str(zero) for zero in q.zero_points], q)
        number = build("subtract", wide, [number, zeros])
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
    if q.is_float:
        return build("convert", result, [number])
    number = build("round_nearest_even", floats, [number])
    return build("convert", result, [number])


def _texts(numbers: tuple[float, ...] | tuple[int, ...]) -> list[str]:
    # Not `repr`: MLIR does not read 1e-05, which has no point.
    return [f"{float(number):.17e}" for number in numbers]


def _per_axis(tensor: ir.Type, texts: list[str], q: Quantization) -> ir.Value:
    if q.blocks:
        return _per_block(tensor, texts, q)
    if q.axis is None:
        return _splat(tensor, texts[0])
    line = ir.RankedTensorType.get([len(texts)], element_type(tensor))
    value = ir.Attribute.parse(f"dense<[{', '.join(texts)}]> : {line}")
    dims = ir.DenseI64ArrayAttr.get([q.axis])
    constant = build("constant", line, [], {"value": value})
    return build("broadcast_in_dim", tensor, [constant], {"broadcast_dimensions": dims})


def _per_block(tensor: ir.Type, texts: list[str], q: Quantization) -> ir.Value:
    """The number of each element's block."""
    element, sizes = element_type(tensor), dict(q.blocks)
    line = ir.RankedTensorType.get([len(texts)], element)
    value = ir.Attribute.parse(f"dense<[{', '.join(texts)}]> : {line}")
    constant = build("constant", line, [], {"value": value})
    small = build("reshape", ir.RankedTensorType.get(q.counts, element), [constant])
    pairs = zip(q.counts, ir.RankedTensorType(tensor).shape, strict=True)
    apart = [
        size for dim, (count, whole) in enumerate(pairs) for size in (count, sizes.get(dim, whole))
    ]
    dims = ir.DenseI64ArrayAttr.get(range(0, len(apart), 2))
    wide = ir.RankedTensorType.get(apart, element)
    spread = build("broadcast_in_dim", wide, [small], {"broadcast_dimensions": dims})
    return build("reshape", tensor, [spread])


def _splat(tensor: ir.Type, text: str) -> ir.Value:
    value = ir.Attribute.parse(f"dense<{text}> : {tensor}")
    return build("constant", tensor, [], {"value": value})
