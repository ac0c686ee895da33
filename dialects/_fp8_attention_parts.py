"""An `fp8.attention` taken apart: its operands by name and its attributes with their defaults."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import float_of, is_set, type_of
from mlir_fp8.dialects._fp8_product_parts import named_operands

OPERANDS = ("q", "k", "v", "q_scale", "k_scale", "v_scale", "bias", "mask", "offset")
FLAGS = (
    "causal",
    "zero_masked_rows",
    "scale_scores",
    "scale_p",
    "scale_out",
    "p_inverse",
    "p_saturate",
    "fast_accum",
    "lse",
)
FLOATS = ("scale", "mask_value", "p_scale", "p_factor")
TYPES = ("qk_type", "score_type", "p_type", "pv_type")


@dataclass(frozen=True)
class AttentionParts:
    """The parts of a valid `fp8.attention`; see `Attention`.

    `scale_scores` and `scale_out` are true too where no type to dequantize to is given.
    """

    op: ir.Operation
    q: ir.Value
    k: ir.Value
    v: ir.Value
    q_scale: ir.Value | None
    k_scale: ir.Value | None
    v_scale: ir.Value | None
    bias: ir.Value | None
    mask: ir.Value | None
    offset: ir.Value | None
    causal: bool
    zero_masked_rows: bool
    scale_scores: bool
    scale_p: bool
    scale_out: bool
    p_inverse: bool
    p_saturate: bool
    fast_accum: bool
    lse: bool
    scale: float | None
    mask_value: float
    p_scale: float | None
    p_factor: float | None
    window: int | None
    qk_type: ir.Type | None
    score_type: ir.Type
    p_type: ir.Type | None
    pv_type: ir.Type | None


def attention_parts(op: ir.Operation, operands: Sequence[ir.Value] | None = None) -> AttentionParts:
    """The parts of `op`, with other values in the place of its operands where they are given."""
    given = list(op.operands) if operands is None else operands
    values = named_operands(op, given, OPERANDS)
    mask_value = float_of(op, "mask_value")
    window = op.attributes.get("window")
    pv_type = type_of(op, "pv_type")
    return AttentionParts(
        op=op,
        q=values["q"],
        k=values["k"],
        v=values["v"],
        q_scale=values.get("q_scale"),
        k_scale=values.get("k_scale"),
        v_scale=values.get("v_scale"),
        bias=values.get("bias"),
        mask=values.get("mask"),
        offset=values.get("offset"),
        causal=is_set(op, "causal"),
        zero_masked_rows=is_set(op, "zero_masked_rows"),
        scale_scores=is_set(op, "scale_scores") or type_of(op, "qk_type") is None,
        scale_p=is_set(op, "scale_p"),
        scale_out=is_set(op, "scale_out") or pv_type is None,
        p_inverse=is_set(op, "p_inverse"),
        p_saturate=is_set(op, "p_saturate"),
        fast_accum=is_set(op, "fast_accum"),
        lse=is_set(op, "lse"),
        scale=float_of(op, "scale"),
        mask_value=float("-inf") if mask_value is None else mask_value,
        p_scale=float_of(op, "p_scale"),
        p_factor=float_of(op, "p_factor"),
        window=None if window is None else ir.IntegerAttr(window).value,
        qk_type=type_of(op, "qk_type"),
        score_type=type_of(op, "score_type") or ir.F32Type.get(op.context),
        p_type=type_of(op, "p_type") or pv_type,
        pv_type=pv_type,
    )
