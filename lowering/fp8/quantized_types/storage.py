"""What stands for a quantized value in scaled FP8: f8 and a scale, or the expressed type."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.context import op_error
from mlir_fp8.base.dense_numbers import integer_constant
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.uniform_types import Quantization, storage_type
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.arithmetic._quantized import quantization
from mlir_fp8.lowering.fp8.ops.scaling import spread
from mlir_fp8.lowering.fp8.quantized_types.constants import scale_constant, sqnr_text
from mlir_fp8.lowering.fp8.quantized_types.constants import spread as spread_array
from mlir_fp8.lowering.rewriting.stablehlo import build, build_op, convert, with_element

Remark = tuple[ir.Location, str]
"""What became of something, and where it was."""
WIDE = ("f32", "bf16", "f16")
"""What products of f8 give."""
_MOST_BITS = 8
_LEAST = np.finfo(np.float32).tiny


@dataclass(frozen=True)
class Storage:
    """How quantized values are stored: up to 8 bits as `format`, with a scale that reaches as far,
    small floats as they are, more bits as the expressed type."""

    format: str

    def element(self, type_: Any) -> ir.Type:
        """The element type that takes the place of a quantized one; any other itself."""
        stored = storage_type(type_)
        if stored == type_ or isinstance(stored, ir.FloatType):
            return stored
        is_long = ir.IntegerType(stored).width > _MOST_BITS
        return type_.expressed_type if is_long else ir.Type.parse(self.format, type_.context)

    def scale(self, q: Quantization, rank: int) -> np.ndarray:
        """The scale of the codes, f32, in a shape that `fp8.dequantize` takes."""
        scales, zeros = (np.array(each, np.float64) for each in (q.scales, q.zero_points))
        if not q.is_float:
            farthest = np.maximum(np.abs(q.least - zeros), np.abs(q.largest - zeros))
            scales = scales * farthest / float(FORMATS[self.format].max)
        return shaped(scales.astype(np.float32), q, rank)

    def check(self, op: ir.Operation) -> None:
        """Refuse what expresses other floats than `fp8` ops quantize, and scales that f32 loses."""
        blocks = (block for region in op.regions for block in region)
        arguments = (value for block in blocks for value in block.arguments)
        for value in (*op.operands, *op.results, *arguments):
            q = quantization(op, value)
            if q is None:
                continue
            if str(q.expressed) not in (*WIDE, "f64"):
                reason = f"which expresses {q.expressed}, no wide float"
                raise op_error(op, f"is of {value.type}, {reason}")
            if is_wide(q):
                continue
            scale = self.scale(q, len(value.type.shape))
            if not ((scale >= _LEAST) & np.isfinite(scale)).all():
                reason = f"whose scale in {self.format} is no normal number of f32"
                raise op_error(op, f"is of {value.type}, {reason}")

    def scale_of(self, value: ir.Value, q: Quantization) -> ir.Value:
        """As `scale`, of the codes of `value`, as a constant."""
        return scale_constant(self.scale(q, ir.RankedTensorType(value.type).rank))

    def constant(
        self, integers: ir.Attribute, of: ir.Type, q: Quantization
    ) -> tuple[ir.Attribute, str]:
        """What a constant of `integers`, of a tensor of the shape of `of`, becomes.

        With it what is lost, in words, where it becomes f8.
        """
        type_ = ir.RankedTensorType(of)
        shape, rank = tuple(type_.shape), type_.rank
        stored = integer_constant(integers, str(q.storage))
        zeros, own = (
            spread_array(shaped(np.array(each), q, rank), shape)
            for each in (q.zero_points, q.scales)
        )
        numbers = (stored - zeros).astype(np.float32) * own.astype(np.float32)
        name = str(q.expressed) if is_wide(q) else self.format
        dtype = element_dtype(name)
        if is_wide(q):
            return dense(numbers.astype(dtype), name, of.context), ""
        scale = spread_array(self.scale(q, rank), shape)
        limit = np.float32(float(FORMATS[name].max))
        codes = np.clip(numbers / scale, -limit, limit).astype(dtype)
        lost = sqnr_text(codes.astype(np.float32) * scale, numbers)
        return dense(codes, name, of.context), f"becomes {name}: {lost}"

    def number(self, op: ir.Operation, value: ir.Value) -> ir.Value:
        """What `value`, an operand of `op`, stands for, in the expressed type."""
        q = quantization(op, value)
        if q is None or is_wide(q):
            return value
        wide = with_element(value.type, q.expressed)
        return build_op("fp8.dequantize", wide, [value, self.scale_of(value, q)])

    def stored(self, number: ir.Value, q: Quantization, result: ir.Type) -> ir.Value:
        """`number`, of the expressed type, clamped to what `q` holds, and quantized.

        Its type is `result`, the quantized one, until all types are replaced.
        """
        if not q.is_float and q.least != -q.largest and not _is_whole_range(q):
            number = _clamped(number, q)
        if is_wide(q):
            return number
        flags = {"saturate": ir.UnitAttr.get()}
        return build_op("fp8.quantize", result, [number, self.scale_of(number, q)], flags)


def is_wide(q: Quantization) -> bool:
    """Whether more bits are stored than f8 has."""
    return not q.is_float and ir.IntegerType(q.storage).width > _MOST_BITS


def shaped(numbers: np.ndarray, q: Quantization, rank: int) -> np.ndarray:
    """The numbers of each scale of `q` in the shape of a scale of a tensor of `rank`."""
    if q.blocks:
        return numbers.reshape(q.counts)
    if q.axis is None:
        return numbers.reshape(())
    return numbers.reshape([-1 if dim == q.axis else 1 for dim in range(rank)])


def _is_whole_range(q: Quantization) -> bool:
    """Whether the ends are those of a signed type around 0, as far in both directions but for 1."""
    return q.least == -q.largest - 1 and not any(q.zero_points)


def _clamped(number: ir.Value, q: Quantization) -> ir.Value:
    """`number` between what the least and the largest stored integers stand for."""
    scales, zeros = (np.array(each, np.float64) for each in (q.scales, q.zero_points))
    type_ = ir.RankedTensorType(number.type)
    ends: list[ir.Value] = []
    for end in (q.least, q.largest):
        numbers = shaped(((end - zeros) * scales).astype(np.float32), q, type_.rank)
        bound = convert(scale_constant(numbers), type_.element_type)
        ends.append(spread(bound, type_, range(type_.rank)) if numbers.ndim else bound)
    return build("clamp", type_, [ends[0], number, ends[1]])
