"""`fp8.uniform_quantize` and `fp8.uniform_dequantize`: by a quantized type, which an attribute is.

StableHLO's ops take integer types, per tensor and per axis. These take the others too: types that
store small floats, and types with scales of blocks. Values are of what is stored, so that every op
moves them.
"""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attributes import attributes_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_scales import WIDE_TYPES, tensor_refusal
from mlir_fp8.dialects.uniform_types import read_uniform

TYPE = "type"
"""The attribute that is the quantized type."""


class UniformQuantize(Fp8.Operation, name="uniform_quantize", traits=[ext.Pure]):
    """Stored numbers for wide floats: q = convert(clamp(x / scale + zero point)).

    `type` is a `!quant.uniform<...>` whose scales and zero points are constants: per tensor, per
    axis or, of integers, per block. `x` is of its expressed type (bf16, f16, f32, f64), `q` of the
    same shape in its storage type: f8E4M3FN, f8E5M2 or f4E2M1FN, or integers (unsigned ones are
    ui8). Every step rounds in the expressed type:

    1. x / scale.
    2. Plus the zero point, of integers.
    3. Clamped to the least and the largest number that is stored.
    4. Of integers, rounded to nearest, ties to even, NaN becoming 0; of floats, converted: nearest,
       ties to even, NaN stays NaN where the type has one.
    """

    x: ir.Value[Any]
    q: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, uniform_quantize_refusal(op.operation))


class UniformDequantize(Fp8.Operation, name="uniform_dequantize", traits=[ext.Pure]):
    """What stored numbers stand for: x = (q - zero point) * scale.

    `type` is that of `UniformQuantize`, and so are `q` and `x`. The zero point is subtracted
    exactly; the convert to the expressed type, of integers, and the product round in it.
    """

    q: ir.Value[Any]
    x: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, uniform_dequantize_refusal(op.operation))


def uniform_quantize_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.uniform_quantize`, or nothing."""
    return _refusal(op, is_quantize=True)


def uniform_dequantize_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.uniform_dequantize`, or nothing."""
    return _refusal(op, is_quantize=False)


def _refusal(op: ir.Operation, *, is_quantize: bool) -> str:
    if len(op.operands) != 1 or len(op.results) != 1:
        return "takes a tensor, and gives one"
    types = [op.operands[0].type, op.results[0].type]
    for type_, what in zip(types, ("an operand", "a result"), strict=True):
        if reason := tensor_refusal(type_, what):
            return reason
    wide, stored = map(ir.RankedTensorType, types if is_quantize else types[::-1])
    if list(wide.shape) != list(stored.shape):
        return f"changes the shape from {types[0]} to {types[1]}: reshape before or after it"
    form = ("a type !quant.uniform<...>", lambda attribute: isinstance(attribute, ir.TypeAttr))
    if reason := attributes_refusal(op, {TYPE: form}, required=[TYPE]):
        return reason
    type_ = ir.TypeAttr(op.attributes[TYPE]).value
    found = read_uniform(type_, list(wide.shape))
    if isinstance(found, str):
        return found
    if str(found.expressed) not in WIDE_TYPES:
        return f"is of {type_}, which expresses {found.expressed}, no wide float"
    if (found.expressed, found.storage) != (wide.element_type, stored.element_type):
        pair = f"{found.expressed} and {found.storage}"
        return f"is between {wide.element_type} and {stored.element_type}, and {type_} of {pair}"
    return ""
