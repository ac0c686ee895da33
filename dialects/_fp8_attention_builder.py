"""Builds `fp8.attention` ops."""

from typing import TypedDict

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_attention_parts import FLAGS, FLOATS, OPERANDS, TYPES
from mlir_fp8.dialects._fp8_attributes import SIZES
from mlir_fp8.dialects._fp8_product_builder import build


class AttentionOptions(TypedDict, total=False):
    """What an attention may have beside q, k and v; `Attention` says what each means.

    None and false are what is absent. `offset` may be a number, which becomes a constant of i32.
    """

    q_scale: ir.Value | None
    k_scale: ir.Value | None
    v_scale: ir.Value | None
    bias: ir.Value | None
    mask: ir.Value | None
    offset: ir.Value | int | None
    scale: float | None
    mask_value: float | None
    p_scale: float | None
    p_factor: float | None
    window: int | None
    qk_type: ir.Type | None
    score_type: ir.Type | None
    p_type: ir.Type | None
    pv_type: ir.Type | None
    causal: bool
    zero_masked_rows: bool
    scale_scores: bool
    scale_p: bool
    scale_out: bool
    p_inverse: bool
    p_saturate: bool
    fast_accum: bool
    lse: bool


_KINDS = dict.fromkeys(TYPES, "type") | {"window": "whole number"}


def build_attention(
    q: ir.Value, k: ir.Value, v: ir.Value, result: ir.Type, options: AttentionOptions
) -> list[ir.Value]:
    """The results of a new `fp8.attention`: one of type `result`, with the option `lse` that."""
    known = AttentionOptions.__annotations__
    if unknown := sorted(options.keys() - known):
        raise Fp8Error(f"'fp8.attention' has no option {unknown[0]}, only {', '.join(known)}")
    offset = options.get("offset")
    if isinstance(offset, int):
        options = {**options, "offset": _constant(offset)}
    operands = [q, k, v, *(options.get(each) for each in OPERANDS[3:])]
    attributes: dict[str, ir.Attribute] = {
        SIZES: ir.DenseI32ArrayAttr.get([int(each is not None) for each in operands])
    }
    for name in (*FLOATS, *TYPES, "window"):
        given = options.get(name)
        if given is not None:
            attributes[name] = _attribute(name, given)
    attributes |= {each: ir.UnitAttr.get() for each in FLAGS if options.get(each)}
    rows = ir.RankedTensorType(result).shape[:3]
    lse = [ir.RankedTensorType.get(rows, ir.F32Type.get())] if options.get("lse") else []
    return build(
        "fp8.attention", [result, *lse], [each for each in operands if each is not None], attributes
    )


def _attribute(name: str, given: object) -> ir.Attribute:
    if name in TYPES and isinstance(given, ir.Type):
        return ir.TypeAttr.get(given)
    if name == "window" and isinstance(given, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), given)
    if name in FLOATS and isinstance(given, int | float):
        return ir.FloatAttr.get(ir.F32Type.get(), given)
    raise Fp8Error(f"'fp8.attention' has {name} = {given!r}: give a {_KINDS.get(name, 'number')}")


def _constant(offset: int) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    type_ = ir.RankedTensorType.get([], i32)
    value = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(i32, offset))
    return ir.Operation.create("stablehlo.constant", [type_], attributes={"value": value}).results[
        0
    ]
