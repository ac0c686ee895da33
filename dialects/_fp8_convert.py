"""`fp8.convert`: a conversion with its own rounding."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attributes import FLAG, SIZES, Form, attributes_refusal, one_of
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS
from mlir_fp8.dialects.rounding_modes import RoundingMode


class Convert(Fp8.Operation, name="convert", traits=[ext.Pure]):
    """Convert each element of `x`, of any float or integer type, to f8, f6, f4, bf16 or f16.

    Attributes: `rounding` is "nearest_even", "toward_zero" or "stochastic", see `RoundingMode` and
    docs/numerics.md; `saturate` (unit, or i1) gives the largest value beyond the range, infinity
    included; without it, toward zero a number beyond the range gives the largest value, else what
    the type has for overflow. NaN stays NaN.

    Stochastic rounding needs a seed: the operand `seed`, a tensor<ui64> that may differ from run to
    run, or the attribute `seed` (i64), or both; the one that is missing is 0. Two ops with the same
    two seeds draw the same bits for the same index: tell ops apart by the attribute.
    """

    # Optional attributes and operands are verified below, not declared: attributes cannot be
    # optional here, and the accessor of an optional operand needs segment sizes: read `operands`.
    x: ir.Value[Any]
    rounding: ir.StringAttr
    result: ir.OpResult[Any]
    run_time_seed: ir.Value[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        # Runs before the verifier of the declarations above, so attributes may be missing.
        return report(op, convert_refusal(op.operation))


def _is_seed(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == "i64"


_FORMS: dict[str, Form] = {
    "rounding": one_of(RoundingMode),
    "saturate": FLAG,
    "seed": ("an i64", _is_seed),
}


def convert_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.convert`, or nothing."""
    if len(op.operands) not in (1, 2) or len(op.results) != 1:
        return "takes a tensor, and a seed or none, and gives one tensor"
    sizes = f"array<i32: 1, {len(op.operands) - 1}>"
    # Builders add the sizes, which nothing else checks.
    forms = {**_FORMS, SIZES: (sizes, lambda attribute: str(attribute) == sizes)}
    return (
        _types_refusal(op.operands[0].type, op.results[0].type)
        or attributes_refusal(op, forms, required=["rounding"])
        or _seed_refusal(op)
    )


def _types_refusal(x: ir.Type, result: ir.Type) -> str:
    if not isinstance(x, ir.RankedTensorType) or not isinstance(result, ir.RankedTensorType):
        return f"converts ranked tensors, not {x} to {result}"
    if list(x.shape) != list(result.shape) or x.encoding != result.encoding:
        return f"changes the shape from {x} to {result}: reshape before or after it"
    if str(result.element_type) not in NARROW_FLOATS:
        return f"gives {result.element_type}: it is one of {', '.join(NARROW_FLOATS)}"
    element = x.element_type
    is_integer = isinstance(element, ir.IntegerType) and element.width <= 64
    if not is_integer and str(element) not in FORMATS:
        return f"takes {element}: convert a float or an integer of at most 64 bits"
    return ""


def _seed_refusal(op: ir.Operation) -> str:
    operand = op.operands[1].type if len(op.operands) == 2 else None
    if operand is not None and str(operand) != "tensor<ui64>":
        return f"has a seed of type {operand}: it is a tensor<ui64>"
    has_seed = operand is not None or "seed" in op.attributes
    is_stochastic = ir.StringAttr(op.attributes["rounding"]).value == RoundingMode.STOCHASTIC
    if is_stochastic and not has_seed:
        return "rounds stochastic without a seed: give it as attribute (i64) or operand"
    if has_seed and not is_stochastic:
        return "has a seed, which only stochastic rounding takes: drop it"
    return ""
