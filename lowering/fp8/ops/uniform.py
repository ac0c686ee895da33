"""`fp8.uniform_quantize` and `fp8.uniform_dequantize` in StableHLO, and how their type travels."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects._fp8_uniform import TYPE
from mlir_fp8.dialects.uniform_types import Quantization, read_uniform, uniform_type
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.arithmetic import _quantized


def uniform_quantize(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.uniform_quantize` on `operands`, at the insertion point."""
    return [_quantized.quantize(operands[0], _quantization(op), op.results[0].type)]


def uniform_dequantize(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.uniform_dequantize` on `operands`, at the insertion point."""
    return [_quantized.dequantize(operands[0], _quantization(op))]


def _quantization(op: ir.Operation) -> Quantization:
    shape = list(ir.RankedTensorType(op.results[0].type).shape)
    found = read_uniform(ir.TypeAttr(op.attributes[TYPE]).value, shape)
    assert isinstance(found, Quantization)  # the verifier has seen to that
    return found


def type_to_wire(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The parts of the quantized type of `op`, of which artifacts hold no float storage, no blocks.

    `block_sizes` has 0 for each dimension that is not cut.
    """
    q = _quantization(op)
    context, integer = op.context, ir.IntegerType.get_signless(64)
    entries: dict[str, ir.Attribute] = {
        "storage_type": ir.TypeAttr.get(q.storage),
        "expressed_type": ir.TypeAttr.get(q.expressed),
        "scales": dense(np.array(q.scales, np.float64), "f64", context),
    }
    if not q.is_float:
        entries["zero_points"] = dense(np.array(q.zero_points, np.int64), "i64", context)
        entries["storage_min"] = ir.IntegerAttr.get(integer, q.least)
        entries["storage_max"] = ir.IntegerAttr.get(integer, q.largest)
    if q.axis is not None:
        entries["quantized_dimension"] = ir.IntegerAttr.get(integer, q.axis)
    if q.blocks:
        sizes = dict(q.blocks)
        numbers = [sizes.get(dim, 0) for dim in range(len(q.counts))]
        entries["block_sizes"] = dense(np.array(numbers, np.int64), "i64", context)
    return entries


def type_from_wire(
    entries: dict[str, ir.Attribute], shape: Sequence[int]
) -> dict[str, ir.Attribute]:
    """The attribute that `entries`, of `type_to_wire`, stand for, in a tensor of `shape`.

    KeyError, TypeError or ValueError where they are no such parts.
    """
    left = dict(entries)
    storage, expressed = (ir.TypeAttr(left.pop(f"{each}_type")).value for each in _TYPES)
    scales = tuple(float(each) for each in _array(left.pop("scales"), "f64"))
    zeros = (0,) * len(scales)
    least = largest = 0
    if isinstance(storage, ir.IntegerType):
        zeros = tuple(int(each) for each in _array(left.pop("zero_points"), "i64"))
        least, largest = (ir.IntegerAttr(left.pop(f"storage_{each}")).value for each in _ENDS)
    axis: int | None = None
    blocks: tuple[tuple[int, int], ...] = ()
    counts: tuple[int, ...] = ()
    if "quantized_dimension" in left:
        axis = ir.IntegerAttr(left.pop("quantized_dimension")).value
    if "block_sizes" in left:
        sizes = [int(each) for each in _array(left.pop("block_sizes"), "i64")]
        blocks = tuple((dim, size) for dim, size in enumerate(sizes) if size)
        pairs = zip(shape, sizes, strict=True)
        counts = tuple(whole // size if size else 1 for whole, size in pairs)
    if left:
        raise ValueError(f"{sorted(left)} are no parts of a type")
    if isinstance(storage, ir.FloatType) and blocks:
        raise ValueError("no type stores floats in blocks")
    q = Quantization(storage, expressed, least, largest, scales, zeros, axis, blocks, counts)
    try:
        return {TYPE: ir.TypeAttr.get(uniform_type(q))}
    except ir.MLIRError as error:
        raise ValueError(str(error)) from None


_TYPES = ("storage", "expressed")
_ENDS = ("min", "max")


def _array(attribute: ir.Attribute, element: str) -> np.ndarray:
    elements = ir.DenseElementsAttr(attribute)
    if str(ir.RankedTensorType(elements.type).element_type) != element:
        raise ValueError(f"{attribute} is not of {element}")
    return np.array(elements)
