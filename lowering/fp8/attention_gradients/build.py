"""Puts `fp8.attention` and `fp8.attention_backward` in the place of a training step's products."""

import math

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers
from mlir_fp8.dialects._fp8_attention_builder import AttentionOptions, build_attention
from mlir_fp8.dialects._fp8_product_builder import build as build_op
from mlir_fp8.lowering.fp8.attention_gradients.labels import (
    DEPTH,
    WIDTH,
    Named,
    gathered,
    placed,
)
from mlir_fp8.lowering.fp8.attention_gradients.match import DOT, Training
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type

_TYPES = ("bf16", "f16", "f32")


def refusal_of_types(found: Training) -> str:
    """Why the ops do not take what was found."""
    values = (found.scores.q, found.scores.k, found.v)
    types = {str(element_type(each.value)) for each in values}
    if len(types) != 1 or not types <= set(_TYPES):
        return (
            f"q, k and v are of {', '.join(sorted(types))}, not all of one of {', '.join(_TYPES)}"
        )
    return ""


def put_training(found: Training) -> None:
    """In the place of all products, which go with what was there for them alone."""
    scores, key = found.scores, found.key
    sizes = _sizes(found)
    groups = tuple(label for label in scores.rows if label != scores.query)
    of_queries = (*scores.batch, *groups, scores.query)
    of_keys = (*scores.batch, key)
    batch = [sizes[label] for label in scores.batch] or [1]
    leading, shared = math.prod(batch[:-1]), batch[-1]
    heads = shared * math.prod(sizes[label] for label in groups)
    rows, keys = sizes[scores.query], sizes[key]

    def queries(each: Named, inner: int) -> ir.Value:
        shape_ = [leading, heads, rows, sizes.get(inner, 1)]
        return convert(gathered(each, (*of_queries, inner), shape_), element)

    def values(each: Named, inner: int) -> ir.Value:
        return gathered(each, (*of_keys, inner), [leading, shared, keys, sizes.get(inner, 1)])

    element = ir.RankedTensorType(scores.q.value.type).element_type
    with ir.InsertionPoint(found.before[0]), scores.dot.location:
        q, k, v = queries(scores.q, DEPTH), values(scores.k, DEPTH), values(found.v, WIDTH)
        result = ir.RankedTensorType.get([leading, heads, rows, sizes.get(WIDTH, 1)], element)
        options: AttentionOptions = {
            "scale": scores.scale,
            "causal": scores.mask_value is not None,
            "qk_type": element,
            "pv_type": element,
            "lse": True,
        }
        if scores.mask_value not in (None, -math.inf):
            options["mask_value"] = scores.mask_value
        out, lse = build_attention(q, k, v, result, options)
        if found.out is not None:
            result = found.out.op.results[0]
            made = placed(out, (*of_queries, WIDTH), sizes, result, found.out.labels)
            result.replace_all_uses_with(made)
    later = found.before[1]
    with ir.InsertionPoint(later), later.location:
        gradient = queries(found.gradient, WIDTH)
        attributes: dict[str, ir.Attribute] = {
            "scale": ir.FloatAttr.get(ir.F32Type.get(), scores.scale)
        }
        if scores.mask_value is not None:
            attributes["causal"] = ir.UnitAttr.get()
        gradients = build_op(
            "fp8.attention_backward",
            [each.type for each in (q, k, v)],
            [q, k, v, out, gradient, lse],
            attributes,
        )
        for value, product, order in zip(
            gradients,
            (found.dq, found.dk, found.dv),
            ((*of_queries, DEPTH), (*of_keys, DEPTH), (*of_keys, WIDTH)),
            strict=True,
        ):
            made = placed(value, order, sizes, product.op.results[0], product.labels)
            product.op.results[0].replace_all_uses_with(made)
    products = [each for each in (found.out, found.dq, found.dk, found.dv) if each is not None]
    dots = {*(each.op for each in products), found.dp, scores.dot}
    for product in products:
        erase_with_producers(product.op, lambda each: _may_go(each, dots))


def _sizes(found: Training) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for each in (found.scores.q, found.scores.k, found.v):
        sizes |= {
            label: size
            for label, size in zip(each.labels, shape(each.value), strict=True)
            if label is not None
        }
    return sizes


def _may_go(op: ir.Operation, dots: set[ir.Operation]) -> bool:
    if op.name == DOT:
        return op in dots
    is_plain = not len(op.regions) or op.name == "stablehlo.reduce"
    return op.name.startswith("stablehlo.") and is_plain and op.name != "stablehlo.custom_call"
