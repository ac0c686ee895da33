"""The `fp8` dialect: what StableHLO has no word for. Ops print and parse in generic form.

`"fp8.convert"(%x) {rounding = "toward_zero", saturate} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>`

A context knows the dialect after `mlir_fp8.context.load_fp8_dialect`, which loading a module that
mentions it does. To add an op: a class below, whose docstring is its specification and whose
`verify_invariants` refuses in one line what breaks it; then its rewriting in
`lowering/fp8_legalize_to_stablehlo.py`.
"""

from collections.abc import Callable
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS
from mlir_fp8.dialects.rounding_modes import RoundingMode


class Fp8(ext.Dialect, name="fp8"):
    """Small floats: conversions with a choice of rounding."""


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

    # What may be left out is checked below, not declared here: attributes cannot be optional, and
    # the accessor of an optional operand asks for an attribute of sizes: read `operands`.
    x: ir.Value[Any]
    rounding: ir.StringAttr
    result: ir.OpResult[Any]
    run_time_seed: ir.Value[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        # Comes before the check of what is declared above, so nothing is there for certain.
        reason = _refusal(op.operation)
        if reason:
            op.location.emit_error(f"'fp8.convert' op {reason}")
        return not reason


_MODES = ", ".join(f'"{mode}"' for mode in RoundingMode)
_I64 = "i64"
_SIZES = "operandSegmentSizes"


def _refusal(op: ir.Operation) -> str:
    if len(op.operands) not in (1, 2) or len(op.results) != 1:
        return "takes a tensor, and a seed or none, and gives one tensor"
    reason = _types_refusal(op.operands[0].type, op.results[0].type)
    for name in sorted(op.attributes):
        if not reason and "." not in name:
            reason = _attribute_refusal(op, name)
    if reason:
        return reason
    if "rounding" not in op.attributes:
        return f"needs the attribute rounding, one of {_MODES}"
    return _seed_refusal(op)


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


def _attribute_refusal(op: ir.Operation, name: str) -> str:
    sizes = f"array<i32: 1, {len(op.operands) - 1}>"
    # Builders add the sizes, which nothing else checks.
    known = _ATTRIBUTES | {_SIZES: (sizes, lambda attribute: str(attribute) == sizes)}
    if name not in known:
        return f"has no attribute {name}, only {', '.join(_ATTRIBUTES)}"
    expected, is_good = known[name]
    try:
        attribute = op.attributes[name]
    except TypeError:  # dense complex numbers, for which the bindings have no class
        return f"has {name} of dense elements: it is {expected}"
    return "" if is_good(attribute) else f"has {name} = {attribute}: it is {expected}"


def _is_mode(attribute: ir.Attribute) -> bool:
    # As text: the value of one that is not UTF-8 cannot be asked for.
    return str(attribute) in {f'"{mode}"' for mode in RoundingMode}


def _is_flag(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.UnitAttr | ir.BoolAttr)


def _is_seed(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == _I64


_ATTRIBUTES: dict[str, tuple[str, Callable[[ir.Attribute], bool]]] = {
    "rounding": (f"one of {_MODES}", _is_mode),
    "saturate": ("a unit attribute, true or false", _is_flag),
    "seed": ("an i64", _is_seed),
}


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
