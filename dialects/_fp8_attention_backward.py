"""`fp8.attention_backward`: gradients of attention, its probabilities computed again."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attention_rules import forms_refusal
from mlir_fp8.dialects._fp8_attributes import FLAG, Form, attributes_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_product_rules import STEP_TYPES
from mlir_fp8.dialects._fp8_scales import element_refusal, tensor_refusal


class AttentionBackward(Fp8.Operation, name="attention_backward", traits=[ext.Pure]):
    """(dq, dk, dv) = gradients of out = softmax(scale * q.k).v, for that of out.

    `q` is [B, H, T, D], `k` [B, Hk, S, D], `v` [B, Hk, S, E], `out` and `out_gradient`
    [B, H, T, E], all of one type: bf16, f16 or f32. `lse` is f32 [B, H, T], as `fp8.attention`
    gives it. H is a multiple of Hk, as there. dq, dk, dv have the types of q, k, v.

    1. x = sum of q.k over D, in f32, times `scale`, an f32, where given; with the flag `causal`
       -infinity where j > i. p = exp(x - lse).
    2. delta = sum of out * out_gradient over E; dp = sum of out_gradient.v over E; both in f32.
       ds = p * (dp - delta).
    3. P and S are p and ds, converted to the type of q. dv is the sum of P * out_gradient over
       queries, dk that of S * q, both over all query heads of a head of k too; dq is the sum of
       S * k over keys. dq and dk times `scale`. Sums and products are in f32, and converted.

    The order of additions is not part of the rule. Shapes are static.
    """

    q: ir.Value[Any]
    k: ir.Value[Any]
    v: ir.Value[Any]
    out: ir.Value[Any]
    out_gradient: ir.Value[Any]
    lse: ir.Value[Any]
    dq: ir.OpResult[Any]
    dk: ir.OpResult[Any]
    dv: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, attention_backward_refusal(op.operation))


OPERANDS = ("q", "k", "v", "out", "out_gradient", "lse")
RESULTS = ("dq", "dk", "dv")


def _is_f32(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.FloatAttr) and str(attribute.type) == "f32"


_FORMS: dict[str, Form] = {"scale": ("a float of f32", _is_f32), "causal": FLAG}
_DIMS = {
    "q": "BxHxTxD",
    "k": "BxHkxSxD",
    "v": "BxHkxSxE",
    "out": "BxHxTxE",
    "out_gradient": "BxHxTxE",
    "lse": "BxHxT",
}


def attention_backward_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.attention_backward`, or nothing."""
    if len(op.operands) != len(OPERANDS) or len(op.results) != len(RESULTS):
        return f"takes {', '.join(OPERANDS)}, and gives {', '.join(RESULTS)}"
    if reason := attributes_refusal(op, _FORMS):
        return reason
    for value, name in zip([*op.operands, *op.results], [*OPERANDS, *RESULTS], strict=True):
        if reason := tensor_refusal(value.type, name):
            return reason
    forms = zip(_DIMS, op.operands, _DIMS.values(), strict=True)
    return _types_refusal(op) or forms_refusal(forms)


def _types_refusal(op: ir.Operation) -> str:
    types = [ir.RankedTensorType(each.type) for each in op.operands]
    if reason := element_refusal(types[0], "q", STEP_TYPES):
        return reason
    element = types[0].element_type
    for type_, name in zip(types[1:5], OPERANDS[1:5], strict=True):
        if type_.element_type != element:
            return f"has {name} of {type_.element_type} with q of {element}: they are of one type"
    if reason := element_refusal(types[5], "lse", ("f32",)):
        return reason
    for value, result, name in zip(types[:3], op.results, RESULTS, strict=True):
        if result.type != value:
            return f"has {name} of type {result.type}: it is that of {name[1:]}, {value}"
    return ""
