"""Quantized types, and the StableHLO specification's formulas for them.

A quantized tensor is stored as integers, or as small floats, which types of MLIR take and ops of
StableHLO do not; the number that one stands for is (stored - zero point) * scale, in the expressed
type.
"""

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.uniform_types import Quantization, quant, read_uniform
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, names, with_element

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


def is_quantized(value: ir.Value) -> bool:
    return isinstance(element_type(value.type), quant.QuantizedType)


def quantization(op: ir.Operation, value: ir.Value) -> Quantization | None:
    """How the elements of `value`, an operand or result of `op`, are quantized; None if not."""
    if not is_quantized(value):
        return None
    shape = list(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else None
    is_open = shape is None or not has_static_shape(value)
    found = read_uniform(element_type(value.type), None if is_open else shape)
    if isinstance(found, str):
        raise op_error(op, found)
    return found


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
