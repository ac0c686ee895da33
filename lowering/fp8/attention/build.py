"""Puts an `fp8.attention` in the place of two products and the softmax between them."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attention_builder import AttentionOptions, build_attention
from mlir_fp8.dialects._fp8_attention_rules import attention_refusal
from mlir_fp8.lowering.fp8.attention.axes import D, E, Found
from mlir_fp8.lowering.fp8.attention.layout import Axes, Axis, arranged, restored
from mlir_fp8.lowering.fp8.attention.placing import placed_scales
from mlir_fp8.lowering.fp8.attention.product import Side
from mlir_fp8.lowering.fp8.attention.scores import Scores, Spot
from mlir_fp8.lowering.fp8.attention.sight import Sight
from mlir_fp8.lowering.fp8.attention.weighed import Weighed
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, spread, with_shape
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type


def build_fused(
    scores: Scores, sight: Sight, weighed: Weighed, found: Found, *, is_safe: bool
) -> tuple[ir.Operation, ir.Value | str]:
    """The op, and its result in the program's layout, before the last op that it does the work of.

    Or, in the place of the result, what the op's verifier says against it.
    """
    last = ir.OpResult(weighed.value).owner.operation
    layout, second = found.layout, weighed.dot
    assert second is not None
    key_side, own = 1 - found.query_side, 1 - weighed.side
    sides = (
        (scores.dot.sides[found.query_side], found.q, layout.queries(_axis(found.q, D))),
        (scores.dot.sides[key_side], found.k, layout.values(_axis(found.k, D))),
        (second.sides[own], found.v, layout.values(_axis(found.v, E))),
    )
    with ir.InsertionPoint(last), scores.dot.op.location:
        q, k, v = (arranged(_data(side, dims), dims, wanted) for side, dims, wanted in sides)
        scales = [
            None if side.scale is None else _scale(side.scale, dims, wanted)
            for side, dims, wanted in sides
        ]
        options = _options(scores, sight, weighed, found, scales)
        options["zero_masked_rows"] = is_safe
        element = element_type(weighed.value)
        assert element is not None
        result = ir.RankedTensorType.get([*shape(q)[:3], shape(v)[3]], element)
        (out,) = build_attention(q, k, v, result, AttentionOptions(**options))
        op = ir.OpResult(out).owner.operation
        if reason := attention_refusal(op):
            return op, reason
        value = restored(out, layout.queries(_axis(found.v, E)), found.out)
        return op, _moved(value, weighed.tail)


def _moved(value: ir.Value, tail: Sequence[ir.Operation]) -> ir.Value:
    for move in tail:
        type_ = with_shape(value, shape(move.results[0]))
        attributes = {name: move.attributes[name] for name in move.attributes}
        value = build(move.name.removeprefix("stablehlo."), type_, [value], attributes)
    return value


def _axis(dims: Sequence[Axes], key: tuple[int, ...]) -> Axis:
    return next(axis for axes in dims for axis in axes if axis.key == key)


def _data(side: Side, dims: Sequence[Axes]) -> ir.Value:
    """The data of `side` in its dimensions, without the repeats that `dims` lack."""
    sizes = side.repeats.compact_shape
    wanted = [_size(axes) for axes in dims]
    if sizes is not None and list(sizes) == wanted:
        return side.repeats.compact(sizes)
    return side.build()


def _size(axes: Axes) -> int:
    size = 1
    for axis in axes:
        size *= axis.size
    return size


def _scale(scale: Scale, dims: Sequence[Axes], wanted: Sequence[Axes]) -> ir.Value:
    value = scale.build()
    return value if not shape(value) else arranged(value, dims, wanted)


def _options(
    scores: Scores, sight: Sight, weighed: Weighed, found: Found, scales: list[ir.Value | None]
) -> dict[str, Any]:
    dot, second = scores.dot, weighed.dot
    assert second is not None
    score_type = scores.score_type or element_type(dot.op.results[0])
    options: dict[str, Any] = dict(zip(("q_scale", "k_scale", "v_scale"), scales, strict=True))
    placed, factor = placed_scales(scores, weighed, found)
    for name, place in placed.items():
        options[name] = _scale(place.scale, place.dims, place.wanted)
    if sight.offset != 0:
        options["offset"] = sight.offset
    masks = [_placed(spot, found) for spot in sight.masks]
    options |= {
        "bias": None if scores.bias is None else _placed(scores.bias, found),
        "mask": _all(masks) if masks else None,
        "scale": scores.scale,
        "mask_value": None if scores.mask_value == float("-inf") else scores.mask_value,
        "causal": sight.causal,
        "scale_scores": bool(scores.sum_scales) and dot.step is not None,
        "scale_p": weighed.folded is not None,
        "scale_out": bool(weighed.sum_scales) and second.step is not None,
        "window": sight.window,
        "qk_type": dot.step,
        "score_type": None if isinstance(score_type, ir.F32Type) else score_type,
        "p_type": weighed.p_type if weighed.is_quantized else None,
        "p_scale": weighed.p_scale,
        "p_inverse": weighed.p_inverse,
        "p_saturate": weighed.p_saturate,
        "p_factor": factor,
        "pv_type": second.step,
        # What may be added with fewer bits need not.
        "fast_accum": dot.fast_accum and second.fast_accum,
    }
    return options


def _placed(spot: Spot, found: Found) -> ir.Value:
    """The value at `spot` as [B, H, T, S], each size the whole or 1."""
    compact = spot.spread.compact_shape
    assert compact is not None
    value = spot.spread.compact(compact)
    axes = found.of(spot.dims)
    whole = [1 if size == 1 else _size(each) for size, each in zip(compact, axes, strict=True)]
    if whole != list(compact):
        target = ir.RankedTensorType(with_shape(value, whole))
        value = spread(value, target, list(range(len(whole))))
    return arranged(value, axes, found.layout.scores)


def _all(masks: Sequence[ir.Value]) -> ir.Value:
    first, *rest = masks
    for each in rest:
        sizes = [max(pair) for pair in zip(shape(first), shape(each), strict=True)]
        joint = with_shape(first, sizes)
        both = [broadcast(value, joint, list(range(4))) for value in (first, each)]
        first = build("and", joint, both)
    return first
