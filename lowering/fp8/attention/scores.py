"""The scores of an attention, traced from the softmax back to the product of q and k."""

from dataclasses import dataclass, field, replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.attention.positions import Bound, conjuncts
from mlir_fp8.lowering.fp8.attention.product import DOTS, Dot, read_dot
from mlir_fp8.lowering.fp8.attention.repeats import MOVES, moved, spread_of
from mlir_fp8.lowering.fp8.scaled_dot.epilogue import alpha_of
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, read_scale
from mlir_fp8.lowering.fp8.scaled_dot.spread import Dims, Spread
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand, users
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type

_STEPS = MOVES | {
    f"stablehlo.{each}" for each in ("add", "convert", "divide", "multiply", "select", "subtract")
}
_LIMIT = 24
"""How many ops are looked at between the product and the softmax."""
_SUM, _SCALED, _BIASED, _MASKED = range(4)


@dataclass(frozen=True)
class Spot:
    """A value of the program spread over scores, whose dimensions have the parts `dims`."""

    spread: Spread
    dims: Dims


@dataclass(frozen=True)
class Scores:
    """The steps from `dot` to the softmax, whose argument has the parts `spread` of its result.

    A key is shown where all `masks` are true and all `bounds` hold: where all `selects` are true.
    """

    dot: Dot
    spread: Spread
    step: int = _SUM
    score_type: ir.Type | None = None
    sum_scales: tuple[tuple[Scale, Dims], ...] = ()
    scale: float | None = None
    bias: Spot | None = None
    mask_value: float | None = None
    masks: tuple[Spot, ...] = ()
    selects: tuple[Spot, ...] = ()
    bounds: tuple[tuple[Bound, Dims], ...] = field(default=())


def match_scores(x: ir.Value, largest: ir.Operation) -> Scores | Obstacle | None:
    """The scores that `x`, which a softmax takes, is; None where no product is behind it.

    `largest`, the reduction of the softmax, may take them on the way to x.
    """
    path = _path(x, _LIMIT)
    if path is None:
        return None
    first, *steps = path
    dot = read_dot(first)
    if isinstance(dot, Obstacle):
        return dot
    step = _SUM if dot.alpha is None else _SCALED
    scores: Scores | Obstacle = Scores(dot, Spread.whole(first.results[0]), step, scale=dot.alpha)
    if dot.addend is not None:
        bias = Spot(spread_of(dot.addend), scores.spread.dims)
        scores = replace(scores, bias=bias, step=_BIASED)
    value = first.results[0]
    for op in steps:
        if len([each for each in users(value) if each != largest]) != 1 or op.block != first.block:
            message = f"{op.name} is not the only one to use the scores"
            return _refusal("other-users", message, op, "compute them twice")
        scores = _stepped(scores, op, value)
        if isinstance(scores, Obstacle):
            return scores
        value = op.results[0]
    return scores


def is_of_product(value: ir.Value) -> bool:
    """Whether a product is behind `value`, through what may stand between it and a softmax."""
    return _path(value, _LIMIT) is not None


def _path(value: ir.Value, limit: int) -> list[ir.Operation] | None:
    """The ops from a dot to `value`, the dot first."""
    op = producer(value)
    if op is None or not limit:
        return None
    if op.name in DOTS:
        return [op] if value == op.results[0] else None
    if op.name not in _STEPS and len(op.operands) != 1:
        return None
    for operand in op.operands:
        if splat_number(operand) is None and str(element_type(operand)) != "i1":
            path = _path(operand, limit - 1)
            if path is not None:
                return [*path, op]
    return None


def _stepped(scores: Scores, op: ir.Operation, value: ir.Value) -> Scores | Obstacle:
    match op.name:
        case "stablehlo.convert":
            return _converted(scores, op, value)
        case "stablehlo.multiply" | "stablehlo.divide":
            return _scaled(scores, op, value)
        case "stablehlo.add":
            return _biased(scores, op, value)
        case "stablehlo.select":
            return _masked(scores, op, value)
        case name if name in MOVES:
            spread = moved(scores.spread, op)
            is_whole = spread is not None and all(
                part.key is not None for parts in spread.dims for part in parts
            )
            if spread is not None and is_whole:
                return replace(scores, spread=spread)
            message = f"{op.name} cuts or repeats the scores"
            return _refusal("layout", message, op, "reshape them along whole dimensions")
    message = f"{op.name} stands between the scores and the softmax"
    return _refusal("score-op", message, op, "leave it out: fp8.attention has no such step")


def _converted(scores: Scores, op: ir.Operation, value: ir.Value) -> Scores | Obstacle:
    target, source = element_type(op.results[0]), element_type(value)
    # Products are rounded to their own type, and may be once more.
    is_exact = holds(target, source)
    is_sum = scores.step == _SUM and isinstance(source, ir.F32Type) and not scores.sum_scales
    if is_sum and scores.score_type is None and isinstance(target, ir.BF16Type | ir.F16Type):
        return replace(scores, score_type=target)
    if is_exact and isinstance(target, ir.F32Type):
        return scores
    message = f"{op.name} rounds the scores to {target}"
    return _refusal("rounds-twice", message, op, "convert the dot's result at once, or not")


def _scaled(scores: Scores, op: ir.Operation, value: ir.Value) -> Scores | Obstacle:
    divides = op.name == "stablehlo.divide"
    if not isinstance(element_type(value), ir.F32Type):
        return _not_f32(op, value)
    if op.operands[0] == op.operands[1] or (divides and op.operands[0] != value):
        return _refusal("score-op", f"{op.name} of two scores", op, "scale by a number")
    scale = read_scale(other_operand(op, value))
    is_sum = _scales_sums(scores)
    is_known = scale is not None and (scale.is_single or (is_sum and _is_spread(scale)))
    if scale is None or not is_known or scores.step > _SUM:
        message = f"{op.name} scales the scores by {other_operand(op, value).type}"
        if scores.step > _SUM:
            message = f"{op.name} scales what is scaled, biased or masked already"
        return _refusal("score-scale", message, op, "scale the sum by one number, before all else")
    number = None
    if scale.number is not None:
        number = alpha_of(scale.number, ir.F32Type.get(op.context), divides)
    if number is not None and not (is_sum and _is_scaled(op)):
        return replace(scores, scale=number, step=_SCALED)
    if divides or not is_sum or len(scores.sum_scales) == 2:
        word = "by a number that is no constant"
        if divides:
            word = "by what is no power of two"
        message = f"{op.name} scales the scores {word}"
        return _refusal("score-scale", message, op, "multiply by a constant, or scale q before")
    return replace(scores, sum_scales=(*scores.sum_scales, (scale, scores.spread.dims)))


def _scales_sums(scores: Scores) -> bool:
    """Whether a factor may be the scale of small operands, which have none yet."""
    sides = scores.dot.sides
    is_free = all(side.scale is None for side in sides) and scores.score_type is None
    # A product that is rounded to bf16 is so before it is scaled.
    is_free = is_free and isinstance(element_type(scores.dot.op.results[0]), ir.F32Type)
    return is_free and any(side.is_small for side in sides)


def _is_spread(scale: Scale) -> bool:
    return scale.broadcasts and scale.spread.compact_shape is not None


def _is_scaled(op: ir.Operation) -> bool:
    """Whether the next op multiplies once more."""
    found = users(op.results[0])
    return len(found) == 1 and found[0].name == "stablehlo.multiply"


def _biased(scores: Scores, op: ir.Operation, value: ir.Value) -> Scores | Obstacle:
    if not isinstance(element_type(value), ir.F32Type):
        return _not_f32(op, value)
    if scores.step > _SCALED or op.operands[0] == op.operands[1]:
        message = f"{op.name} adds to what is biased or masked already"
        return _refusal("score-bias", message, op, "add the masks first")
    bias = other_operand(op, value)
    source = producer(bias)
    spread = spread_of(bias)
    if source is not None and source.name == "stablehlo.convert":
        inner = source.operands[0]
        if str(element_type(inner)) in ("bf16", "f16"):
            spread = spread_of(inner)
    return replace(scores, bias=Spot(spread, scores.spread.dims), step=_BIASED)


def _masked(scores: Scores, op: ir.Operation, value: ir.Value) -> Scores | Obstacle:
    shown, one, other = op.operands
    number = splat_number(other if one == value else one)
    if not isinstance(element_type(value), ir.F32Type):
        return _not_f32(op, value)
    if value == shown or number is None or not shape(shown):
        message = f"{op.name} puts what is no constant in the place of scores"
        return _refusal("score-mask", message, op, "select a constant where keys are hidden")
    if scores.mask_value is not None and scores.mask_value != number:
        message = f"{op.name} hides keys by {number}, and others by {scores.mask_value}"
        return _refusal("score-mask", message, op, "hide all by the same number")
    dims = scores.spread.dims
    found = conjuncts(shown, negated=other == value)
    masks = [Spot(each, dims) for each in found if isinstance(each, Spread)]
    bounds = [(each, dims) for each in found if isinstance(each, Bound)]
    return replace(
        scores,
        step=_MASKED,
        mask_value=number,
        masks=(*scores.masks, *masks),
        selects=(*scores.selects, Spot(_whole(shown, negated=other == value), dims)),
        bounds=(*scores.bounds, *bounds),
    )


def _whole(shown: ir.Value, *, negated: bool) -> Spread:
    spread = spread_of(shown)
    if not negated:
        return spread

    def make() -> ir.Value:
        value = spread.make()
        return build("not", value.type, [value])

    return replace(spread, make=make)


def _not_f32(op: ir.Operation, value: ir.Value) -> Obstacle:
    message = f"{op.name} computes in {element_type(value)} between the scores and the softmax"
    return _refusal("score-type", message, op, "convert the dot's result to f32 at once")


def _refusal(kind: str, message: str, op: ir.Operation, edit: str) -> Obstacle:
    return Obstacle(kind, "scores", message, op.location, edit)
