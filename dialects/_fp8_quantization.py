"""`fp8.quantize` and `fp8.dequantize`: wide floats to scaled small ones, and back."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attributes import FLAG, attributes_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_scales import (
    DATA_TYPES,
    WIDE_TYPES,
    element_refusal,
    scale_refusal,
    tensor_refusal,
)


class Quantize(Fp8.Operation, name="quantize", traits=[ext.Pure]):
    """Scaled small floats for wide ones: q = convert(clamp(x / scale, -max, max)).

    `x` is of bf16, f16, f32 or f64, `q` of the same shape in f8, f6 or f4; `scale` is a dequantize
    multiplier, x is about q * scale, in one of the shapes of `_fp8_scales`. Every step is in `x`'s
    element type:

    1. `scale` is converted to that type, which may round.
    2. x / scale; with the flag `inverse` the scale is a reciprocal, and it is x * scale. Rounds.
    3. With the flag `saturate`, clamped to the largest finite values of `q`'s type: infinity gives
       those, too. Without it, what is beyond gives what a convert gives: infinity, else NaN, else
       the largest value.
    4. Converted to `q`'s type: nearest, ties to even.

    NaN stays NaN, or where the type has none (f6, f4) what a convert makes of it. -0.0 stays -0.0.
    A scale of 0 gives what dividing by 0 gives: infinity, and NaN for 0.
    """

    x: ir.Value[Any]
    scale: ir.Value[Any]
    q: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, quantize_refusal(op.operation))


class Dequantize(Fp8.Operation, name="dequantize", traits=[ext.Pure]):
    """What scaled small floats stand for: x = convert(q) * scale.

    `q` is of f8, f6 or f4, `x` of the same shape in bf16, f16, f32 or f64; `scale` is in one of the
    shapes of `_fp8_scales`. Every step is in `x`'s element type:

    1. `q` is converted to that type, which is exact.
    2. `scale` is converted to that type, which may round.
    3. q * scale; with the flag `inverse` the scale is a reciprocal, and it is q / scale. Rounds.

    NaN and infinity are what they are in a product: infinity * 0 is NaN. -0.0 keeps its sign.
    """

    q: ir.Value[Any]
    scale: ir.Value[Any]
    x: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, dequantize_refusal(op.operation))


def quantize_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.quantize`, or nothing."""
    forms = {"inverse": FLAG, "saturate": FLAG}
    return _refusal(op, WIDE_TYPES, DATA_TYPES) or attributes_refusal(op, forms)


def dequantize_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.dequantize`, or nothing."""
    return _refusal(op, DATA_TYPES, WIDE_TYPES) or attributes_refusal(op, {"inverse": FLAG})


def _refusal(op: ir.Operation, given: tuple[str, ...], made: tuple[str, ...]) -> str:
    if len(op.operands) != 2 or len(op.results) != 1:
        return "takes a tensor and its scale, and gives one tensor"
    types = [op.operands[0].type, op.operands[1].type, op.results[0].type]
    for type_, what in zip(types, ("an operand", "a scale", "a result"), strict=True):
        if reason := tensor_refusal(type_, what):
            return reason
    data, scale, result = map(ir.RankedTensorType, types)
    if list(data.shape) != list(result.shape):
        return f"changes the shape from {data} to {result}: reshape before or after it"
    return (
        element_refusal(data, "an operand", given)
        or element_refusal(result, "a result", made)
        or scale_refusal(scale, data, "a scale")
    )
