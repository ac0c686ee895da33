"""What `fp8.attention` gives, by numpy: each step rounded once, sums in f64 and then in f32."""

from typing import Any

import numpy as np
from fp8_programs import cast

from mlir_fp8.dialects.float_formats import FORMATS


def spread(scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A scale of rank 0, or of blocks, over data of `shape`."""
    for dim in range(scale.ndim):
        scale = scale.repeat(shape[dim] // max(scale.shape[dim], 1), dim)
    return scale


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, result: str, **given: Any) -> np.ndarray:
    """By `given`, the op's operands and attributes; types are the names of formats."""
    groups = q.shape[1] // max(k.shape[1], 1)
    p, _ = softmax(scores(q, k, **given), given.get("zero_masked_rows", False))
    if given.get("scale_p"):
        p = p * _scale(given, "v_scale", v, groups)[..., :1].swapaxes(2, 3)
    p_type = given.get("p_type") or given["pv_type"]
    if "p_scale" in given:
        scale = np.float32(given["p_scale"])
        p = p * scale if given.get("p_inverse") else p / scale
    if given.get("p_saturate"):
        p = np.clip(p, -float(FORMATS[p_type].max), float(FORMATS[p_type].max))
    p, factor = cast(p, p_type), np.float32(given.get("p_factor", 1))
    scale, v = _scale(given, "v_scale", v, groups), v.repeat(groups, 1)
    late = given.get("scale_out") or not given.get("pv_type")
    if given.get("scale_p"):
        scale = np.float32(1) + 0 * scale
    if not late:
        p, v = (_dequantized(x, s, given["pv_type"]) for x, s in ((p, factor), (v, scale)))
    out = _product("bhts,bhse->bhte", p, v)
    if late:
        out = out * factor * scale[:, :, :1]
    return cast(out, result)


def scores(q: np.ndarray, k: np.ndarray, **given: Any) -> np.ndarray:
    """What the softmax is of, in f32."""
    groups = q.shape[1] // max(k.shape[1], 1)
    scales = [_scale(given, "q_scale", q, 1), _scale(given, "k_scale", k, groups)]
    k = k.repeat(groups, 1)
    late = given.get("scale_scores") or not given.get("qk_type")
    if not late:
        q, k = (_dequantized(x, s, given["qk_type"]) for x, s in zip((q, k), scales, strict=True))
    x = _product("bhtd,bhsd->bhts", q, k)
    if late:
        x = x * scales[0][..., :1] * scales[1][..., :1].swapaxes(2, 3)
    x = cast(x, given.get("score_type", "f32")).astype(np.float32)
    x = x * np.float32(given.get("scale", 1))
    x = x + given.get("bias", np.float32(0)).astype(np.float32)
    return np.where(_shown(x.shape, given), x, np.float32(given.get("mask_value", -np.inf)))


def _scale(given: dict[str, Any], name: str, data: np.ndarray, groups: int) -> np.ndarray:
    """The scale in f32 for each element of `data`, whose heads are repeated."""
    scale = np.asarray(given.get(name, 1), np.float32)
    full = spread(scale, data.shape) if scale.ndim else np.full(np.maximum(data.shape, 1), scale)
    return full.repeat(groups, 1)


def _dequantized(data: np.ndarray, scale: Any, step: str) -> np.ndarray:
    """Both in `step`, whose product is rounded to it; one without a scale is times 1."""
    return cast(data.astype(np.float32) * cast(scale, step).astype(np.float32), step)


def _product(form: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded once, to f32."""
    return np.einsum(form, a.astype(np.float64), b.astype(np.float64)).astype(np.float32)


def _shown(shape: tuple[int, ...], given: dict[str, Any]) -> np.ndarray:
    batch, _, rows, keys = shape
    offset = np.broadcast_to(np.asarray(given.get("offset", 0)), (batch,)).reshape(-1, 1, 1, 1)
    at, key = offset + np.arange(rows)[:, None], np.arange(keys)
    shown = np.broadcast_to(given.get("mask", np.True_), shape)
    if given.get("causal"):
        shown = shown & (key <= at)
    if "window" in given:
        shown = shown & (key > at - given["window"])
    return shown


def softmax(x: np.ndarray, is_safe: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities, and their lse."""
    m = x.max(-1, keepdims=True, initial=-np.inf)
    if is_safe:
        m = np.where(m == -np.inf, np.float32(0), m)
    e = np.exp((x - m).astype(np.float64)).astype(np.float32)
    total = e.astype(np.float64).sum(-1, keepdims=True).astype(np.float32)
    if is_safe:
        total = np.where(total == 0, np.float32(1), total)
    return e / total, (m + np.log(total))[..., 0]
