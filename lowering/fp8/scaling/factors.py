"""What quantizing and dequantizing do to a tensor beside converting it: factors and bounds."""

import math

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import element_type

MOVES = frozenset(
    {
        "stablehlo.transpose",
        "stablehlo.reshape",
        "stablehlo.broadcast_in_dim",
        "stablehlo.reverse",
    }
)
"""Ops that only rearrange a tensor."""

_BOUNDS = {"stablehlo.minimum": 1, "stablehlo.maximum": -1}
_FACTORS = {"stablehlo.multiply": (0, 1), "stablehlo.divide": (0,)}
_FP8_CONVERSIONS = frozenset({"fp8.quantize", "fp8.dequantize", "fp8.convert"})
_READABLE = ("f32", "f64", "bf16", "f16")


def scaled_operand(op: ir.Operation) -> ir.Value | None:
    """The tensor that `op` may quantize or dequantize, but for converting it; None for others."""
    if op.name in _FP8_CONVERSIONS:
        return op.operands[0]
    if op.name == "stablehlo.clamp":
        return op.operands[1]
    for index in _FACTORS.get(op.name, ()):
        if is_one_number(op.operands[1 - index]):
            return op.operands[index]
    if op.name in _BOUNDS:
        for index in (0, 1):
            bound = constant_number(op.operands[1 - index])
            # Not 0: that is no bound of a format, but a rectifier.
            if bound is not None and bound * _BOUNDS[op.name] > 0:
                return op.operands[index]
    return None


def is_one_number(value: ir.Value) -> bool:
    """Whether all elements of `value` are one number."""
    if math.prod(ir.RankedTensorType(value.type).shape) == 1:
        return True
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    if op.name in (*MOVES, "stablehlo.convert"):
        return is_one_number(op.operands[0])
    constant = _constant(op)
    return constant is not None and constant.is_splat


def constant_number(value: ir.Value) -> float | None:
    """The number that all elements of a constant are; None for what is no such constant."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name in (*MOVES, "stablehlo.convert"):
        return constant_number(op.operands[0])
    constant = _constant(op)
    if constant is None or not constant.is_splat:
        return None
    return float(ir.FloatAttr(constant.get_splat_value()).value)


def _constant(op: ir.Operation) -> ir.DenseElementsAttr | None:
    """The numbers of a constant of wide floats, which the bindings can read."""
    if op.name != "stablehlo.constant" or str(element_type(op.results[0])) not in _READABLE:
        return None
    value = op.attributes["value"]
    return value if isinstance(value, ir.DenseElementsAttr) else None
