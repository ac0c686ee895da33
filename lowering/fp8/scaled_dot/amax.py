"""Amax: the largest magnitude of a value, as the reduction that a fused op gives beside it."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_CONVERTED = ("f32", "bf16", "f16", "f64")
_EDIT = "reduce abs of the value over all dimensions by maximum, from -inf or 0.0"


@dataclass(frozen=True)
class Amax:
    """The reduction `reduce` of a value's magnitude; `first` is the op that uses the value."""

    reduce: ir.Operation
    first: ir.Operation


def match_amax(op: ir.Operation, value: ir.Value, *, is_positive: bool) -> Amax | Obstacle | None:
    """The amax of `value` that begins with its user `op`, or what `op` lacks to be one.

    Converts commute with the maximum of magnitudes: they are monotone. `is_positive` says that
    `value` is its own magnitude.
    """
    step, has_abs = op, False
    while step.name == "stablehlo.abs" or _is_convert(step):
        has_abs = has_abs or step.name == "stablehlo.abs"
        following = only_user(step.results[0])
        if following is None:
            return None
        step = following
    if step.name != "stablehlo.reduce" or not _is_maximum(step):
        return None
    if len(step.operands) != 2 or step.block != op.block:
        return None
    is_total = len(list(ir.DenseI64ArrayAttr(step.attributes["dimensions"]))) == len(shape(value))
    if not has_abs and not (is_positive and is_total):
        return _no_magnitude(step) if is_total else None
    if not is_total:
        message = f"amax over some dimensions only gives {step.results[0].type}"
        return Obstacle("amax-partial", "amax", message, step.location, _EDIT)
    init = splat_number(step.operands[1])
    if init is None or not init <= 0 or (0 in shape(value) and init):
        message = f"amax starts from {'a value that is no constant' if init is None else init}"
        return Obstacle("amax-init", "amax", message, step.location, _EDIT)
    return Amax(step, op)


def _no_magnitude(step: ir.Operation) -> Obstacle:
    message = "the maximum is taken without abs, of values that may be negative"
    return Obstacle("amax-abs", "amax", message, step.location, _EDIT)


def _is_convert(op: ir.Operation) -> bool:
    return op.name == "stablehlo.convert" and str(element_type(op.results[0])) in _CONVERTED


def _is_maximum(reduce: ir.Operation) -> bool:
    (block,) = reduce.regions[0].blocks
    inner = [op.operation for op in block.operations]
    if len(inner) != 2 or inner[0].name != "stablehlo.maximum" or len(block.arguments) != 2:
        return False
    same = {inner[0].operands[0], inner[0].operands[1]} == set(block.arguments)
    return same and list(inner[1].operands) == [inner[0].results[0]]
