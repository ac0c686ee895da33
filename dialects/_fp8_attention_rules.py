"""What an `fp8.attention` must be: each rule that one may break, with the reason."""

from collections.abc import Iterable

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attention_parts import (
    FLAGS,
    FLOATS,
    OPERANDS,
    TYPES,
    AttentionParts,
    attention_parts,
)
from mlir_fp8.dialects._fp8_attributes import (
    FLAG,
    SIZES,
    Form,
    attributes_refusal,
    sizes_form,
    type_among,
)
from mlir_fp8.dialects._fp8_product_rules import STEP_TYPES, families_refusal
from mlir_fp8.dialects._fp8_scales import (
    DATA_TYPES,
    WIDE_TYPES,
    element_refusal,
    scale_refusal,
    tensor_refusal,
)


def _is_window(attribute: ir.Attribute) -> bool:
    if not isinstance(attribute, ir.IntegerAttr) or str(attribute.type) != "i64":
        return False
    return 1 <= attribute.value < 1 << 31


def _is_f32(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.FloatAttr) and str(attribute.type) == "f32"


_FORMS: dict[str, Form] = {
    SIZES: sizes_form(OPERANDS, 3),
    **dict.fromkeys(FLAGS, FLAG),
    **dict.fromkeys(FLOATS, ("a float of f32", _is_f32)),
    **dict.fromkeys(TYPES, type_among(STEP_TYPES)),
    "p_type": type_among((*DATA_TYPES, *STEP_TYPES)),
    "window": ("a number of keys, an i64 from 1 to 2^31 - 1", _is_window),
}


def attention_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.attention`, or nothing."""
    reason = attributes_refusal(op, _FORMS, (SIZES,)) or _counts_refusal(op) or _tensors_refusal(op)
    if reason:
        return reason
    parts = attention_parts(op)
    return (
        _shapes_refusal(parts)
        or _scores_refusal(parts)
        or _values_refusal(parts)
        or _scales_refusal(parts)
        or _masks_refusal(parts)
        or element_refusal(_tensor(op.results[0]), "a result", STEP_TYPES)
        or _lse_refusal(parts)
    )


def _tensor(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def _is_small(value: ir.Value) -> bool:
    return str(_tensor(value).element_type) in DATA_TYPES


def _counts_refusal(op: ir.Operation) -> str:
    count = sum(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    if count != len(op.operands):
        return f"has {len(op.operands)} operands, {count} by {SIZES}"
    if 1 <= len(op.results) <= 2:
        return ""
    return f"has {len(op.results)} results: it gives a tensor, and with the flag lse another"


def _tensors_refusal(op: ir.Operation) -> str:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    names = [name for name, size in zip(OPERANDS, sizes, strict=True) if size]
    results = ["a result", "an lse result"][: len(op.results)]
    for value, name in zip([*op.operands, *op.results], [*names, *results], strict=True):
        if reason := tensor_refusal(value.type, name):
            return reason
    return ""


def _shapes_refusal(parts: AttentionParts) -> str:
    out = parts.op.results[0]
    forms = (
        ("q", parts.q, "BxHxTxD"),
        ("k", parts.k, "BxHkxSxD"),
        ("v", parts.v, "BxHkxSxE"),
        ("a result", out, "BxHxTxE"),
    )
    return forms_refusal(forms)


def forms_refusal(forms: Iterable[tuple[str, ir.Value, str]]) -> str:
    """Which of `forms` is not so: names, tensors and their sizes by letters, such as BxHkxSxD.

    Heads of q, H, are a multiple of those of k and v, Hk.
    """
    sizes: dict[str, int] = {}
    for name, value, form in forms:
        shape, dims = _tensor(value).shape, form.split("x")
        if len(shape) != len(dims):
            return f"has {name} of type {value.type}: it is {form}"
        for dim, size in zip(dims, shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                return f"has {name} of type {value.type}: it is {form}, and {dim} is {sizes[dim]}"
    heads, shared = sizes["H"], sizes["Hk"]
    if heads != shared and (shared == 0 or heads % shared):
        return f"has {heads} heads of q for {shared} of k and v: they are a multiple"
    return ""


def _scores_refusal(parts: AttentionParts) -> str:
    sides = (("q", parts.q), ("k", parts.k))
    return _operands_refusal(sides, parts.qk_type, "qk_type") or (
        families_refusal(_tensor(parts.q), _tensor(parts.k))
        if _is_small(parts.q) and _is_small(parts.k)
        else ""
    )


def _operands_refusal(
    sides: tuple[tuple[str, ir.Value], ...], step: ir.Type | None, name: str
) -> str:
    """What is wrong with the types of what is multiplied: small, or of the `step` type."""
    for side, value in sides:
        type_ = _tensor(value)
        if reason := element_refusal(type_, side, (*DATA_TYPES, *STEP_TYPES)):
            return reason
        if not _is_small(value) and type_.element_type != step:
            given = "is absent" if step is None else f"is {step}"
            needed = f"give {name} = {type_.element_type}"
            return f"has {side} of {type_.element_type}, and {name} {given}: {needed}"
    return ""


def _values_refusal(parts: AttentionParts) -> str:
    """What is wrong with v, and with how the probabilities are rounded."""
    if reason := _operands_refusal((("v", parts.v),), parts.pv_type, "pv_type"):
        return reason
    p_type = parts.p_type
    if p_type is None:
        return "needs the attribute p_type or pv_type: what the probabilities are rounded to"
    is_small = str(p_type) in DATA_TYPES
    for name in ("p_scale", "p_inverse", "p_saturate", "p_factor"):
        if name in parts.op.attributes and not is_small:
            return f"has {name} with probabilities of {p_type}: it is for f8, f6 and f4"
    if parts.p_inverse and parts.p_scale is None:
        return "has the flag p_inverse without p_scale: drop it"
    if not is_small and p_type != parts.pv_type:
        given = "absent" if parts.pv_type is None else str(parts.pv_type)
        return f"has p_type = {p_type}, and pv_type is {given}: they are the same, or p_type is f8"
    v = _tensor(parts.v)
    if is_small and _is_small(parts.v):
        return families_refusal(ir.RankedTensorType.get(v.shape, p_type, loc=_nowhere(parts)), v)
    return ""


def _nowhere(parts: AttentionParts) -> ir.Location:
    return ir.Location.unknown(parts.op.context)


def _scales_refusal(parts: AttentionParts) -> str:
    sides = (
        ("q", parts.q, parts.q_scale, parts.scale_scores, 3),
        ("k", parts.k, parts.k_scale, parts.scale_scores, 3),
        ("v", parts.v, parts.v_scale, parts.scale_out and not parts.scale_p, 2),
    )
    for name, data, scale, scales_sum, contracted in sides:
        if scale is None:
            continue
        if not _is_small(data):
            return f"has {name}_scale for {name} of {_tensor(data).element_type}: scale it before"
        type_ = _tensor(scale)
        if reason := scale_refusal(type_, _tensor(data), f"{name}_scale"):
            return reason
        if scales_sum and type_.rank and type_.shape[contracted] != 1:
            option = "pv_type" if name == "v" else "qk_type"
            return (
                f"has {name}_scale of type {type_}, which changes along the contracting dimension "
                f"{contracted}: give {option}, in which {name} is scaled before it is multiplied"
            )
    return _flags_refusal(parts)


def _flags_refusal(parts: AttentionParts) -> str:
    """What is wrong with where scales are applied."""
    v_scale = parts.v_scale
    for name, needed in (("scale_scores", parts.qk_type), ("scale_out", parts.pv_type)):
        if name in parts.op.attributes and needed is None:
            option = "qk_type" if name == "scale_scores" else "pv_type"
            return f"has the flag {name} without {option}, where it is so anyway: drop it"
    if not parts.scale_p:
        return ""
    if "scale_out" in parts.op.attributes:
        return "has the flags scale_p and scale_out: v_scale is applied once"
    if v_scale is None:
        return "has the flag scale_p without v_scale: drop it"
    if _tensor(v_scale).rank and _tensor(v_scale).shape[3] != 1:
        return f"has v_scale of type {v_scale.type} with scale_p: it has size 1 along dimension 3"
    return ""


def _lse_refusal(parts: AttentionParts) -> str:
    rows = "x".join(map(str, _tensor(parts.q).shape[:3]))
    wanted = [f"tensor<{rows}xf32>"] if parts.lse else []
    given = [str(each.type) for each in list(parts.op.results)[1:]]
    if given == wanted:
        return ""
    first, expected = ((each or ["none"])[0] for each in (given, wanted))
    return f"has an lse result {first}: it is {expected}"


def _masks_refusal(parts: AttentionParts) -> str:
    batch, heads, rows, _ = _tensor(parts.q).shape
    scores = [batch, heads, rows, _tensor(parts.k).shape[2]]
    for name, value, allowed in (("bias", parts.bias, WIDE_TYPES), ("mask", parts.mask, ("i1",))):
        if value is None:
            continue
        type_ = _tensor(value)
        if reason := element_refusal(type_, name, allowed):
            return reason
        if type_.rank != 4 or any(
            size not in (1, whole) for size, whole in zip(type_.shape, scores, strict=True)
        ):
            whole = "x".join(map(str, scores))
            return f"has {name} of type {type_}: each of its 4 sizes is that of {whole}, or 1"
    if parts.offset is None:
        return ""
    offset = _tensor(parts.offset)
    if not (parts.causal or parts.window is not None):
        return "has an offset without causal or window: drop it"
    if list(offset.shape) not in ([], [batch]):
        return f"has offset of type {offset}: it is of rank 0, or of {batch} elements"
    return element_refusal(offset, "offset", ("i32", "i64"))
