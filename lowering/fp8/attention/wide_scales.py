"""Scores that are scaled in bf16 or f16 before a softmax in f32, scaled in f32 instead."""

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers, operations, producer
from mlir_fp8.lowering.fp8.attention.scores import is_of_product
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type

_SCALES = ("stablehlo.multiply", "stablehlo.divide")
_LEAST = 2.0**-126


def widen_scales(module: ir.Operation) -> None:
    """Scale scores by a number behind their conversion to f32, which saves a rounding.

    A quotient becomes a product with the reciprocal in f32.
    """
    for op in operations(module, "stablehlo.convert"):
        scale = producer(op.operands[0])
        if isinstance(element_type(op.results[0]), ir.F32Type) and _may_widen(scale):
            assert scale is not None
            _widen(op, scale)


def _may_widen(scale: ir.Operation | None) -> bool:
    return (
        scale is not None
        and scale.name in _SCALES
        and isinstance(element_type(scale.results[0]), ir.BF16Type | ir.F16Type)
        and len(users(scale.results[0])) == 1
        and _factor(scale) is not None
        and is_of_product(scale.operands[0])
    )


def _factor(scale: ir.Operation) -> float | None:
    """What a product or a quotient multiplies by, where f32 has it as a normal number."""
    number = splat_number(scale.operands[1])
    if not number:
        return None
    factor = 1 / number if scale.name == "stablehlo.divide" else number
    return factor if _LEAST <= abs(factor) <= 1 / _LEAST else None


def _widen(op: ir.Operation, scale: ir.Operation) -> None:
    wide, factor = op.results[0].type, _factor(scale)
    assert factor is not None
    with ir.InsertionPoint(op), scale.location:
        scores = convert(scale.operands[0], ir.F32Type.get(op.context))
        scaled = build("multiply", wide, [scores, number(wide, factor)])
    op.results[0].replace_all_uses_with(scaled)
    erase_with_producers(op, lambda each: each == scale)
