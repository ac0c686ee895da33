"""What probabilities go through: rounded, and the product with the values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.lowering.fp8.attention.product import DOTS, Dot, read_dot
from mlir_fp8.lowering.fp8.attention.repeats import MOVES, moved
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.quantization import Quantization, match_quantization
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, read_scale
from mlir_fp8.lowering.fp8.scaled_dot.spread import Dims, Spread
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand, users
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, is_small, shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type


@dataclass(frozen=True)
class Weighed:
    """`side` of `dot` is the probabilities, of the parts `spread`.

    `factor` is what they count times, `sum_scales` what the sum is multiplied by; `tail` are moves
    of the product on the way to `value`, the result. `folded` are scales of v that multiply p
    before it is rounded.
    """

    value: ir.Value
    spread: Spread
    p_type: ir.Type | None = None
    p_scale: float | None = None
    p_inverse: bool = False
    p_saturate: bool = False
    factor: float | None = None
    dot: Dot | None = None
    side: int = 0
    sum_scales: tuple[Scale, ...] = ()
    tail: tuple[ir.Operation, ...] = ()
    folded: tuple[Scale, Dims] | None = None

    @property
    def is_quantized(self) -> bool:
        return self.p_type is not None and not isinstance(
            self.p_type, ir.F32Type | ir.BF16Type | ir.F16Type
        )


def match_weighed(p: ir.Value, spread: Spread) -> Weighed | Obstacle | None:
    """From `p`, of the parts `spread`, on; None where no product follows."""
    found = Weighed(p, spread)
    block = ir.OpResult(p).owner.operation.block
    while found.dot is None:
        following = users(found.value)
        if len(following) != 1:
            if not any(op.name in DOTS for op in following):
                return None
            message = f"{following[-1].name} also uses the probabilities"
            return _refusal("other-users", message, following[-1], "compute them twice")
        op = following[0]
        if op.block != block:
            return None
        stepped = _stepped(found, op)
        if not isinstance(stepped, Weighed):
            return stepped
        found = stepped
    return _with_scales(found)


def _stepped(found: Weighed, op: ir.Operation) -> Weighed | Obstacle | None:
    if op.name in DOTS:
        return _product(found, op)
    if op.name in MOVES:
        spread = moved(found.spread, op)
        if spread is None or any(part.key is None for parts in spread.dims for part in parts):
            message = f"{op.name} cuts or repeats the probabilities"
            return _refusal("layout", message, op, "reshape them along whole dimensions")
        return replace(found, value=op.results[0], spread=spread)
    if op.name == "stablehlo.multiply" and found.p_type is None and found.folded is None:
        scale = read_scale(other_operand(op, found.value))
        if scale is not None and _is_spread(scale) and op.operands[0] != op.operands[1]:
            return replace(found, value=op.results[0], folded=(scale, found.spread.dims))
    if not found.is_quantized and found.p_type is None:
        quantized = match_quantization(found.value, op, is_positive=True)
        if isinstance(quantized, Obstacle):
            return quantized
        if quantized is not None:
            return _quantized(found, quantized, op)
    if op.name == "stablehlo.convert":
        return _converted(found, op)
    if op.name in ("stablehlo.multiply", "fp8.dequantize") and found.is_quantized:
        return _dequantized(found, op)
    message = f"{op.name} stands between the softmax and the product with v"
    return _refusal("probability-op", message, op, "leave it out: fp8.attention has no such step")


def _quantized(found: Weighed, quantized: Quantization, op: ir.Operation) -> Weighed | Obstacle:
    scale = quantized.scale
    if scale is not None and scale.number is None:
        message = "the probabilities are quantized by a scale that is no constant"
        return _refusal("probability-scale", message, op, "they are within 0..1: take 1 / MAX")
    element = element_type(quantized.end)
    if scale is None:
        return replace(found, value=quantized.end, p_type=element, p_saturate=quantized.saturate)
    return replace(
        found,
        value=quantized.end,
        p_type=element,
        p_scale=scale.number,
        p_inverse=scale.inverse,
        p_saturate=quantized.saturate,
    )


def _converted(found: Weighed, op: ir.Operation) -> Weighed | Obstacle:
    target, source = element_type(op.results[0]), element_type(found.value)
    if found.is_quantized and found.factor is None and holds(target, source):
        return replace(found, value=op.results[0])
    if found.p_type is None and isinstance(target, ir.BF16Type | ir.F16Type):
        return replace(found, value=op.results[0], p_type=target)
    message = f"{op.name} converts the probabilities from {source} to {target}"
    return _refusal("rounds-twice", message, op, "convert them once")


def _dequantized(found: Weighed, op: ir.Operation) -> Weighed | Obstacle:
    factor = op.operands[1] if op.name == "fp8.dequantize" else other_operand(op, found.value)
    number = splat_number(factor)
    is_wide = op.name == "fp8.dequantize" or not is_small(found.value)
    if number is None or found.factor is not None or not is_wide or "inverse" in op.attributes:
        message = f"{op.name} dequantizes the probabilities by what is no constant"
        return _refusal("probability-scale", message, op, "multiply by the constant of before")
    return replace(found, value=op.results[0], factor=number)


def _product(found: Weighed, op: ir.Operation) -> Weighed | Obstacle:
    if list(op.operands)[:2].count(found.value) != 1 or found.value in list(op.operands)[2:]:
        return _refusal("layout", f"{op.name} takes them twice", op, "multiply them by v")
    dot = read_dot(op)
    if isinstance(dot, Obstacle):
        return dot
    if dot.alpha is not None or dot.addend is not None:
        return _refusal("epilogue", f"{op.name} has an epilogue", op, "leave it to other ops")
    side = list(op.operands).index(found.value)
    v = dot.sides[1 - side]
    if found.folded is not None and (v.scale is not None or not v.is_small):
        message = "the probabilities are scaled, as by scales of v, which is not of f8, or scaled"
        return _refusal("probability-scale", message, op, "scale v, or quantize it")
    scale = dot.sides[side].scale if op.name == "fp8.scaled_dot" else None
    factor = found.factor
    if scale is not None:
        if scale.number is None or not scale.is_single or factor is not None:
            message = f"{op.name} dequantizes the probabilities by what is no constant"
            return _refusal("probability-scale", message, op, "give the constant of before")
        factor = scale.number
    p_type = found.p_type or element_type(found.value)
    return replace(found, value=op.results[0], dot=dot, side=side, p_type=p_type, factor=factor)


def _with_scales(found: Weighed) -> Weighed:
    """With the numbers that multiply a sum of small floats, and the convert of it."""
    dot = found.dot
    assert dot is not None
    is_sum = isinstance(element_type(found.value), ir.F32Type)
    is_free = not any(side.scale is not None for side in dot.sides) and found.factor is None
    is_free = is_free and found.folded is None and dot.sides[1 - found.side].is_small
    value, tail = found.value, ()
    while (op := _only(value)) is not None and op.block == dot.op.block and len(op.results) == 1:
        value = op.results[0]
        if op.name in MOVES and _size(op.operands[0]) == _size(value):
            tail = (*tail, op)
        elif op.name == "stablehlo.multiply" and is_sum and is_free:
            scale = _next_scale(found, op, tail)
            if scale is None:
                break
            found = replace(found, value=value, sum_scales=(*found.sum_scales, scale), tail=tail)
        elif op.name == "stablehlo.convert" and _is_narrowing(op):
            return replace(found, value=value, tail=tail)
        else:
            break
    return found


def _is_spread(scale: Scale) -> bool:
    is_whole = scale.is_single or scale.spread.compact_shape is None
    return scale.broadcasts and not is_whole


def _next_scale(found: Weighed, op: ir.Operation, tail: Sequence[ir.Operation]) -> Scale | None:
    """What `op` multiplies the sum by: first what probabilities count times, a constant."""
    known = found.sum_scales
    is_after_constant = not known or (len(known) == 1 and known[0].number is not None)
    if not is_after_constant or op.operands[0] == op.operands[1]:
        return None
    scales = [read_scale(operand) for operand in op.operands]
    known_scales = [
        each
        for each in scales
        if each is not None and (each.is_single or (_is_spread(each) and not tail))
    ]
    return known_scales[0] if len(known_scales) == 1 else None


def _is_narrowing(op: ir.Operation) -> bool:
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    return isinstance(source, ir.F32Type) and isinstance(target, ir.BF16Type | ir.F16Type)


def _size(value: ir.Value) -> int:
    return math.prod(shape(value))


def _only(value: ir.Value) -> ir.Operation | None:
    found = users(value)
    return found[0] if len(found) == 1 else None


def _refusal(kind: str, message: str, op: ir.Operation, edit: str) -> Obstacle:
    return Obstacle(kind, "values", message, op.location, edit)
