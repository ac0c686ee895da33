"""`fp8.update_scale` in StableHLO."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import float_of, is_set, string_of
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.scaling_recipes import RECIPES
from mlir_fp8.lowering.fp8.ops.power_of_two import power_of_two
from mlir_fp8.lowering.fp8.ops.scaling import largest, number
from mlir_fp8.lowering.rewriting.stablehlo import build

_SMALLEST_NORMAL = 2.0**-126
_INFINITY = float("inf")


def update_scale(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The new scale and the new history, at the current insertion point."""
    scale, history, amax = operands
    recipe = RECIPES[string_of(op, "recipe", "")]
    seen = _with_first(history, amax) if recipe.counts_this_step else history
    if recipe.has_history:
        is_max = string_of(op, "algorithm", "max") == "max"
        wanted = largest(seen, -_INFINITY) if is_max else _first(seen)
        new_scale = _scale_for(op, wanted, kept=scale)
    else:
        new_scale = _scale_for(op, amax, kept=number(scale.type, 1.0))
    entering = number(amax.type, 0.0) if recipe.counts_this_step else amax
    return [new_scale, _with_first(_rolled(seen), entering)]


def _scale_for(op: ir.Operation, amax: ir.Value, kept: ir.Value) -> ir.Value:
    """amax / MAX * 2^margin where that is a normal number; else `kept`; rounded up if asked for."""
    fmt = FORMATS[str(ir.TypeAttr(op.attributes["format"]).value)]
    scale = build("divide", amax.type, [amax, number(amax.type, float(fmt.max))])
    if margin := float_of(op, "margin"):
        scale = build("multiply", scale.type, [scale, number(scale.type, 2.0**margin)])
    is_normal = _compare(scale, number(scale.type, _SMALLEST_NORMAL), "GE")
    is_finite = _compare(scale, number(scale.type, _INFINITY), "LT")
    is_good = build("and", is_normal.type, [is_normal, is_finite])
    chosen = build("select", scale.type, [is_good, scale, kept])
    return power_of_two(chosen) if is_set(op, "power_of_two") else chosen


def _compare(x: ir.Value, y: ir.Value, direction: str) -> ir.Value:
    truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", truth, [x, y], {"comparison_direction": attribute})


def _first(history: ir.Value) -> ir.Value:
    element = ir.RankedTensorType(history.type).element_type
    return build("reshape", ir.RankedTensorType.get([], element), [_slice(history, 0, 1)])


def _with_first(history: ir.Value, first: ir.Value) -> ir.Value:
    """`history` with `first` in the place of its first element."""
    element = ir.RankedTensorType(history.type).element_type
    vector = build("reshape", ir.RankedTensorType.get([1], element), [first])
    return _concatenated(history.type, [vector, _slice(history, 1)])


def _rolled(history: ir.Value) -> ir.Value:
    """Each element one index down, the first to the end."""
    return _concatenated(history.type, [_slice(history, 1), _slice(history, 0, 1)])


def _slice(history: ir.Value, start: int, end: int | None = None) -> ir.Value:
    type_ = ir.RankedTensorType(history.type)
    end = type_.shape[0] if end is None else end
    limits = {"start_indices": start, "limit_indices": end, "strides": 1}
    attributes = {name: ir.DenseI64ArrayAttr.get([at]) for name, at in limits.items()}
    part = ir.RankedTensorType.get([end - start], type_.element_type)
    return build("slice", part, [history], attributes)


def _concatenated(type_: ir.Type, parts: list[ir.Value]) -> ir.Value:
    dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
    return build("concatenate", type_, parts, {"dimension": dimension})
