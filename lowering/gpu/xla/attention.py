"""`fp8.attention`s that a kernel computes: which, as what, and why others are left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_attention_parts import AttentionParts, attention_parts
from mlir_fp8.dialects.float_formats import FORMATS as FLOATS
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, ROWS
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict
from mlir_fp8.lowering.rewriting.stablehlo import element_type

ATTENTION = "fp8.attention"
_LEAST_MASK = -1e9
"""What is so far below all scores that e to the power of the difference is 0."""


_LEAST = 512
"""Queries and keys: rates are those of long sequences."""


@dataclass(frozen=True)
class FoundAttention:
    """An op, and the kernel that computes it."""

    parts: AttentionParts
    shape: Attention
    """With the heads that share K and V as rows, where each has one query."""

    @property
    def p_range(self) -> float:
        """What the op multiplies probabilities by before it rounds them."""
        return _p_range(self.parts)


def attention_of(op: ir.Operation) -> FoundAttention | str:
    """What is known of an `fp8.attention`; or why no kernel computes it."""
    parts = attention_parts(op)
    reason = _types_refusal(parts) or _scales_refusal(parts) or _probabilities_refusal(parts)
    if reason:
        return reason
    formats = [str(element_type(each)) for each in (parts.q, parts.k, parts.v)]
    shape = shape_of(parts, (*formats, str(parts.p_type)))
    if isinstance(shape, str):
        return shape
    return FoundAttention(parts, _with_heads_as_rows(shape) if _is_shared(parts) else shape)


def _is_shared(parts: AttentionParts) -> bool:
    """Whether heads that share K and V have one query each, and one scale."""
    _, heads, rows, _ = ir.RankedTensorType(parts.q.type).shape
    shared = ir.RankedTensorType(parts.k.type).shape[1]
    scales = [] if parts.q_scale is None else list(ir.RankedTensorType(parts.q_scale.type).shape)
    return rows == 1 and heads > shared and (not scales or scales[1] in (1, shared))


def _with_heads_as_rows(shape: Attention) -> Attention:
    rows = shape.heads // shape.shared
    consumers = 1 if rows <= ROWS else 2
    return replace(shape, heads=shape.shared, rows=rows, row_step=0, consumers=consumers)


def shape_of(parts: AttentionParts, formats: Sequence[str]) -> Attention | str:
    """The kernel for `parts`, were q, k, v and P of `formats`; or why there is none."""
    hides = parts.causal or parts.window is not None
    reasons = {
        "it has a bias": parts.bias is not None,
        "it has a mask: give causal, window and offset": parts.mask is not None,
        f"its mask_value {parts.mask_value:g} is neither -infinity nor below {_LEAST_MASK:g}": hides
        and parts.mask_value > _LEAST_MASK,
    }
    for reason, holds in reasons.items():
        if holds:
            return reason
    q, k, v = (list(ir.RankedTensorType(each.type).shape) for each in (parts.q, parts.k, parts.v))
    shape = Attention(
        q[0],
        q[1],
        k[1],
        q[2],
        k[2],
        q[3],
        v[3],
        *formats,
        result=str(element_type(parts.op.results[0])),
        causal=parts.causal,
        window=parts.window or 0,
        offsets=_offsets(parts),
        blind=_blind(parts, hides=hides),
        lse=parts.lse,
        consumers=1 if q[2] <= ROWS else 2,
    )
    try:
        shape.check()
    except Fp8Error as error:
        return str(error)
    return shape


def _offsets(parts: AttentionParts) -> int:
    if parts.offset is None:
        return 0
    return math.prod(ir.RankedTensorType(parts.offset.type).shape)


def _blind(parts: AttentionParts, *, hides: bool) -> str:
    if parts.offset is None and parts.window is None:  # the first key is seen by all
        return "nan"
    if hides and parts.mask_value != -math.inf:
        return "mean"
    return "zero" if parts.zero_masked_rows else "nan"


def _types_refusal(parts: AttentionParts) -> str:
    reasons = {
        "q, k and v are not all of f8E4M3FN or f8E5M2": any(
            str(element_type(each)) not in FORMATS for each in (parts.q, parts.k, parts.v)
        ),
        "its probabilities are not of f8E4M3FN or f8E5M2": str(parts.p_type) not in FORMATS,
        f"its scores are rounded to {parts.score_type}": str(parts.score_type) != "f32",
        "v_scale multiplies its probabilities": parts.scale_p,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _scales_refusal(parts: AttentionParts) -> str:
    """Scales of operands are those of the sum only where they round to f32 at most."""
    if reason := heads_refusal(parts):
        return reason
    has_scores = parts.q_scale is not None or parts.k_scale is not None
    if has_scores and not parts.scale_scores and str(parts.qk_type) != "f32":
        return f"q and k are scaled in {parts.qk_type}, not their sum"
    has_out = parts.v_scale is not None or parts.p_factor is not None
    if has_out and not parts.scale_out and str(parts.pv_type) != "f32":
        return f"P and v are scaled in {parts.pv_type}, not their sum"
    return ""


def heads_refusal(parts: AttentionParts) -> str:
    """Which scale is of less than a whole head, or of other heads than share K and V."""
    shared = ir.RankedTensorType(parts.k.type).shape[1]
    for name, scale, data in (
        ("q_scale", parts.q_scale, parts.q),
        ("k_scale", parts.k_scale, parts.k),
        ("v_scale", parts.v_scale, parts.v),
    ):
        if scale is None or not ir.RankedTensorType(scale.type).rank:
            continue
        batch, heads, *rest = ir.RankedTensorType(scale.type).shape
        batches, all_heads, *_ = ir.RankedTensorType(data.type).shape
        if any(size != 1 for size in rest):
            return f"its {name} is not one number, or one for each head"
        if batch not in (1, batches) or heads not in (1, shared, all_heads):
            return f"its {name} is that of blocks of heads"
    return ""


def _p_range(parts: AttentionParts) -> float:
    if parts.p_scale is None:
        return 1.0
    if parts.p_scale == 0:
        return 0.0
    return parts.p_scale if parts.p_inverse else 1 / parts.p_scale


def _probabilities_refusal(parts: AttentionParts) -> str:
    largest = float(FLOATS[str(parts.p_type)].max)
    # 1 / (1 / 448) in f32 is more than 448 by less than this.
    if 1 <= _p_range(parts) <= largest * (1 + 2.0**-20):
        return ""
    return f"its p_scale makes of 1 a number that is not from 1 to {largest:g}"


def verdict_of_attention(found: FoundAttention, costs: Costs) -> tuple[Verdict, FoundAttention]:
    """By rates of products in TFLOP/s; of a causal one only those that are seen count."""
    kernel, xla = costs.attention, costs.attention_by_xla
    if kernel is None or xla is None:
        return Verdict(unknown="no time of the kernel is known"), found
    shape = found.shape
    if min(shape.rows, shape.keys) < _LEAST:
        return Verdict(unknown=f"no time is known of less than {_LEAST} queries and keys"), found
    pairs = shape.rows * shape.keys
    if shape.causal and shape.row_step and not shape.offsets:
        seen = min(shape.rows, shape.keys)
        pairs = seen * (seen + 1) // 2 + (shape.rows - seen) * shape.keys
    millions = 2 * shape.all_heads * pairs * (shape.depth + shape.width) / 1e6
    return Verdict(millions / kernel + costs.launch, millions / xla + costs.launch), found
