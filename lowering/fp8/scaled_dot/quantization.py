"""The output of a dot quantized: scaled, clamped and converted to f8, f6 or f4."""

from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.scaled_dot.amax import Amax, match_amax
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, is_set, operand_scale, read_scale
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand, users
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_CLAMPS = names("stablehlo", "clamp maximum minimum")
_LIMIT = 6
_PART = "output"


@dataclass(frozen=True)
class Quantization:
    """`end` is the quantized value; `scale` that of `x / scale`, or with `inverse` `x * scale`."""

    end: ir.Value
    saturate: bool
    scale: Scale | None = None


@dataclass(frozen=True)
class _Bounds:
    """What clamps allow so far, and the last of them."""

    low: float | None = None
    high: float | None = None
    op: ir.Operation | None = None
    is_constant: bool = True

    def clamped(self, op: ir.Operation, value: ir.Value) -> "_Bounds | None":
        """With `op`, of `_CLAMPS`, too; None where it bounds once more what is bounded."""
        if op.name == "stablehlo.clamp":
            low, high = splat_number(op.operands[0]), splat_number(op.operands[2])
            constant = low is not None and high is not None and op.operands[1] == value
            return _Bounds(low, high, op, constant) if self.op is None else None
        number = splat_number(other_operand(op, value))
        if number is None or op.operands[0] == op.operands[1]:
            return None
        if op.name == "stablehlo.maximum":
            return replace(self, low=number, op=op) if self.low is None else None
        return replace(self, high=number, op=op) if self.high is None else None


def match_quantization(
    value: ir.Value, op: ir.Operation, *, is_positive: bool
) -> Quantization | Obstacle | None:
    """The quantization of `value` that begins with its user `op`, or what is wrong with it.

    None where `op` does not lead to f8. `is_positive` says that no element is below zero, so that
    none needs a lower bound.
    """
    if op.name == "fp8.quantize":
        return Quantization(op.results[0], is_set(op, "saturate"), operand_scale(op))
    if op.name not in ("stablehlo.multiply", "stablehlo.divide"):
        return _clamp_and_convert(value, op, _Bounds(), is_positive)
    inverse = op.name == "stablehlo.multiply"
    if not inverse and op.operands[0] != value:
        return None
    scaled = op.results[0]
    following = _following(scaled)
    if not isinstance(following, ir.Operation):
        return following
    rest = _clamp_and_convert(scaled, following, _Bounds(), False)
    return _scaled(rest, op, value, inverse) if isinstance(rest, Quantization) else rest


def _scaled(
    rest: Quantization, op: ir.Operation, value: ir.Value, inverse: bool
) -> Quantization | Obstacle:
    scale = read_scale(other_operand(op, value))
    edit = "scale by a broadcast of one number, of one per row or column, or of one per block"
    if op.operands[0] == op.operands[1] or scale is None:
        message = f"{op.name} with what is no scale stands before the quantization"
        return Obstacle("scale-per-element", _PART, message, op.location, edit)
    if not scale.is_single and not scale.broadcasts:
        message = f"{op.name} takes a number for each element, which is no scale"
        return Obstacle("scale-per-element", _PART, message, op.location, edit)
    if not scale.is_single and scale.spread.compact_shape is None:
        message = "the output scales are tiled: neighbours have different ones"
        return Obstacle("scale-layout", _PART, message, op.location, edit)
    return replace(rest, scale=replace(scale, inverse=inverse))


def _clamp_and_convert(
    value: ir.Value, op: ir.Operation, bounds: _Bounds, is_positive: bool
) -> Quantization | Obstacle | None:
    for _ in range(_LIMIT):
        result = op.results[0] if len(op.results) == 1 else None
        if result is None:
            return None
        if op.name == "stablehlo.convert":
            if str(element_type(result)) in DATA_TYPES:
                return _bounded(op, bounds, is_positive)
            if not holds(element_type(result), element_type(value)):
                return _narrowed(op, bounds)
        elif op.name in _CLAMPS:
            clamped = bounds.clamped(op, value)
            if clamped is None:
                return None
            bounds = clamped
        else:
            return None
        following = _following(result)
        if not isinstance(following, ir.Operation):
            return following
        value, op = result, following
    return None


def _bounded(op: ir.Operation, bounds: _Bounds, is_positive: bool) -> Quantization | Obstacle:
    if bounds.op is None:
        return Quantization(op.results[0], saturate=False)
    fmt = FORMATS[str(element_type(op.results[0]))]
    largest = float(fmt.max)
    is_low = bounds.low == -largest or (bounds.low is None and is_positive)
    if bounds.is_constant and is_low and bounds.high == largest:
        return Quantization(op.results[0], saturate=True)
    name = bounds.op.name
    if not bounds.is_constant or (bounds.low is None and bounds.high is None):
        message = f"{name} before the convert to {fmt.name} has bounds that are no constants"
    else:
        low, high = ("none" if each is None else f"{each:g}" for each in (bounds.low, bounds.high))
        message = (
            f"{name} before the convert to {fmt.name} has the bounds {low} and {high}, "
            f"not {-largest:g} and {largest:g}"
        )
    edit = f"clamp to {-largest:g} and {largest:g}, the largest numbers of {fmt.name}"
    return Obstacle("clamp-bounds", _PART, message, bounds.op.location, edit)


def _narrowed(op: ir.Operation, bounds: _Bounds) -> Obstacle | None:
    following = _following(op.results[0])
    if bounds.op is None or not isinstance(following, ir.Operation):
        return None
    if following.name != "stablehlo.convert":
        return None
    message = f"{op.name} rounds to {element_type(op.results[0])} before the convert to f8 rounds"
    edit = "convert to f8 at once"
    return Obstacle("rounds-twice", _PART, message, op.location, edit)


def _following(value: ir.Value) -> ir.Operation | Obstacle | None:
    """The only user of a value on the way to f8, or who else wants it."""
    found = users(value)
    if len(found) == 1:
        return found[0] if found[0].block == ir.OpResult(value).owner.operation.block else None
    if not any(op.name in _CLAMPS or is_quantizing(op) for op in found):
        return None
    for op in found:
        if isinstance(match_amax(op, value, is_positive=False), Amax):
            message = "amax is that of the scaled output: a fused op gives it before the scale"
            edit = "take amax of the value before the output scale, or scale it outside"
            return Obstacle("amax-after-scale", "amax", message, op.location, edit)
    others = [op for op in found if op.name not in _CLAMPS and not is_quantizing(op)]
    op = others[0] if others else found[-1]
    message = f"{op.name} also uses a value that the quantization goes through"
    edit = "let it use the quantized result, or compute the value twice"
    return Obstacle("other-users", _PART, message, op.location, edit)


def is_quantizing(op: ir.Operation) -> bool:
    return op.name == "stablehlo.convert" and str(element_type(op.results[0])) in DATA_TYPES
