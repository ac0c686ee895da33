"""Dots of quantized bytes: sums of integers, which are exact, times the product of the scales.

With l = (L - z) * s and r = R * t, whose zero point StableHLO wants to be 0, the sum of l * r is
s * t * (sum of L * R - z * sum of R). Integers wrap, so that each part may; the whole does not.
"""

import math
from dataclasses import replace

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import replace_op
from mlir_fp8.dialects.uniform_types import Quantization
from mlir_fp8.lowering.arithmetic._quantized import (
    quantization,
    quantize,
    scaled,
)
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, names, splat, with_element

_DOTS = names("stablehlo", "dot dot_general")
_LARGEST = (1 << 31) - 1
_SIGNED, _UNSIGNED = (-128, 127), (0, 255)


def becomes_integer_dot(op: ir.Operation) -> bool:
    """Replace `op`, if it is a dot of bytes over f32 whose sums are within i32."""
    if op.name not in _DOTS or "algorithm" in op.attributes:
        return False
    left, right = (quantization(op, each) for each in op.operands)
    out = quantization(op, op.results[0])
    if left is None or right is None or out is None or not _suit(op, left, right, out):
        return False
    scales = _products(left, right)
    if scales is None:
        return False
    total = _exact_sum(op, left, right)
    axis = None if right.axis is None else _results_dims(op)[right.axis]
    if _is_the_sum(out, scales, axis):
        total.set_type(op.results[0].type)
        replace_op(op, [total])
        return True
    number = convert(total, out.expressed)
    number = scaled(number, replace(right, scales=scales, axis=axis))
    replace_op(op, [quantize(number, out, op.results[0].type)])
    return True


def _suit(op: ir.Operation, left: Quantization, right: Quantization, out: Quantization) -> bool:
    """Whether no sum of the integers that stand for numbers leaves i32."""
    all_three = (left, right, out)
    if any(str(each.expressed) != "f32" for each in all_three):
        return False
    if any(ir.IntegerType(each.storage).width > 8 for each in (left, right)):
        return False
    if left.axis is not None or left.blocks or right.blocks or any(right.zero_points):
        return False
    (zero,) = left.zero_points
    most = max(left.largest - zero, zero - left.least) * max(right.largest, -right.least)
    return most * math.prod(_summed_sizes(op)) <= _LARGEST


def _is_the_sum(out: Quantization, scales: tuple[float, ...], axis: int | None) -> bool:
    """Whether what the result stores is the sum itself: i32, scaled by the products of scales."""
    ends = (out.least, out.largest) == (-(1 << 31), _LARGEST)
    same = tuple(float(np.float32(each)) for each in out.scales) == scales
    return ends and same and out.axis == axis and not any(out.zero_points)


def _products(left: Quantization, right: Quantization) -> tuple[float, ...] | None:
    """The products of the scales in f32; None if one is no normal number."""
    info = np.finfo(np.float32)
    with np.errstate(over="ignore"):
        found = tuple(
            float(np.float32(float(np.float32(left.scales[0])) * float(np.float32(each))))
            for each in right.scales
        )
    return found if all(float(info.tiny) <= x <= float(info.max) for x in found) else None


def _exact_sum(op: ir.Operation, left: Quantization, right: Quantization) -> ir.Value:
    """The sums of products of numbers without their scales, as i32."""
    (zero,) = left.zero_points
    result = with_element(op.results[0].type, ir.IntegerType.get_signless(32))
    stored = _as_byte(op.operands[1], right)
    low, high = left.least - zero, left.largest - zero
    for (least, largest), make in (
        (_SIGNED, ir.IntegerType.get_signless),
        (_UNSIGNED, ir.IntegerType.get_unsigned),
    ):
        if least <= low and high <= largest:
            moved = _moved(op.operands[0], zero, make(8))
            return build(_name(op), result, [moved, stored], _attributes(op))
    total = build(_name(op), result, [_as_byte(op.operands[0], left), stored], _attributes(op))
    return build("subtract", result, [total, _zero_times_sums(op, stored, zero, result)])


def _as_byte(value: ir.Value, q: Quantization) -> ir.Value:
    """The stored integers, in 8 bits."""
    is_unsigned = ir.IntegerType(q.storage).is_unsigned
    make = ir.IntegerType.get_unsigned if is_unsigned else ir.IntegerType.get_signless
    return _moved(value, 0, make(8))


def _moved(value: ir.Value, zero: int, element: ir.Type) -> ir.Value:
    """The stored integers less the zero point, as `element`."""
    if zero == 0:
        return convert(value, element)
    words = with_element(value.type, ir.IntegerType.get_signless(32))
    wide = build("convert", words, [value])
    return convert(build("subtract", words, [wide, splat(words, zero)]), element)


def _zero_times_sums(op: ir.Operation, stored: ir.Value, zero: int, result: ir.Type) -> ir.Value:
    """The zero point of the left operand times the sums of the right one, in the result's shape."""
    batches, summed = _right_dims(op)
    shape, i32 = stored.type.shape, ir.IntegerType.get_signless(32)
    ones = ir.RankedTensorType.get(
        [shape[d] for d in (*batches, *summed)], stored.type.element_type
    )
    numbers = list(range(len(ones.shape)))
    dims = _stablehlo.DotDimensionNumbers.get(
        numbers[: len(batches)], batches, numbers[len(batches) :], summed
    )
    free = [d for d in range(len(shape)) if d not in (*batches, *summed)]
    sums = ir.RankedTensorType.get([shape[d] for d in (*batches, *free)], i32)
    total = build(
        "dot_general",
        sums,
        [splat(ones, 1), stored],
        {"dot_dimension_numbers": dims},
    )
    times = build("multiply", sums, [total, splat(sums, zero)])
    places = [_results_dims(op)[d] for d in (*batches, *free)]
    to = ir.DenseI64ArrayAttr.get(places)
    return build("broadcast_in_dim", result, [times], {"broadcast_dimensions": to})


def _right_dims(op: ir.Operation) -> tuple[list[int], list[int]]:
    """Batching and contracting dimensions of the right operand."""
    if op.name == "stablehlo.dot":
        return [], [0]
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return list(numbers.rhs_batching_dimensions), list(numbers.rhs_contracting_dimensions)


def _results_dims(op: ir.Operation) -> dict[int, int]:
    """Which dimension of the result each one of the right operand is that is not summed."""
    batches, summed = _right_dims(op)
    rank = op.operands[1].type.rank
    free = [d for d in range(rank) if d not in (*batches, *summed)]
    first = op.results[0].type.rank - len(free)
    return {d: i for i, d in enumerate(batches)} | {d: first + i for i, d in enumerate(free)}


def _summed_sizes(op: ir.Operation) -> list[int]:
    return [op.operands[1].type.shape[d] for d in _right_dims(op)[1]]


def _name(op: ir.Operation) -> str:
    return op.name.removeprefix("stablehlo.")


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    kept = ("dot_dimension_numbers", "precision_config")
    return {each: op.attributes[each] for each in kept if each in op.attributes}
