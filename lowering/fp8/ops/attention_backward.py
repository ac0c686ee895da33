"""`fp8.attention_backward` in StableHLO: five dots, and the probabilities computed again."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import float_of, is_set
from mlir_fp8.lowering.fp8.ops.attention import before_or_at, product_of_heads, reduced, reshaped
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, number
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type

_ROWS = [0, 1, 2]
"""The dimensions of scores, but for the keys."""


def attention_backward(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.attention_backward` on `operands`, at the current insertion point.

    Query heads that share a head of k and v are rows of one matrix.
    """
    f32 = ir.F32Type.get()
    q, k, v, out, gradient, lse = operands
    batch, heads, rows, depth = ir.RankedTensorType(q.type).shape
    shared, keys = ir.RankedTensorType(k.type).shape[1:3]
    together = [batch, shared, heads // max(shared, 1) * rows]
    width = ir.RankedTensorType(v.type).shape[3]
    scores = ir.RankedTensorType.get([*together, keys], f32)
    q = reshaped(q, [*together, depth])
    gradient, out = (reshaped(each, [*together, width]) for each in (gradient, out))
    x = _scaled(op, product_of_heads(q, k, (3, 3)))
    if is_set(op, "causal"):
        whole = ir.RankedTensorType.get([batch, heads, rows, keys], f32)
        seen = reshaped(before_or_at(whole), [*together, keys])
        x = build("select", scores, [seen, x, number(scores, float("-inf"))])
    lse = broadcast(reshaped(lse, together), scores, _ROWS)
    p = build("exponential", scores, [build("subtract", scores, [x, lse])])
    both = ir.RankedTensorType.get([*together, width], f32)
    delta = build("multiply", both, [convert(out, f32), convert(gradient, f32)])
    delta = broadcast(reduced("add", delta, 0.0), scores, _ROWS)
    ds = build("subtract", scores, [product_of_heads(gradient, v, (3, 3)), delta])
    ds = build("multiply", scores, [p, ds])
    element = element_type(q)
    assert element is not None
    p, ds = (convert(each, element) for each in (p, ds))
    dq = reshaped(_scaled(op, product_of_heads(ds, k, (3, 2))), [batch, heads, rows, depth])
    found = [
        dq,
        _scaled(op, product_of_heads(ds, q, (2, 2))),
        product_of_heads(p, gradient, (2, 2)),
    ]
    return [convert(each, element) for each in found]


def _scaled(op: ir.Operation, x: ir.Value) -> ir.Value:
    scale = float_of(op, "scale")
    return x if scale is None else build("multiply", x.type, [x, number(x.type, scale)])
