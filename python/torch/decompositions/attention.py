"""Attention: every form of SDPA as products and softmax, with the backward of the CPU's kernel.

Softmax is computed in f32 and rounded once, as the CPU's kernel does.
"""

import math
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


def _scores(
    query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None, *, is_causal: bool
) -> Tensor:
    """The logits of attention in f32; a row that is masked wholly is all minus infinity."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query, key.transpose(-2, -1)).float() * factor
    if is_causal:
        rows = torch.arange(query.shape[-2]).unsqueeze(1)
        may_look = torch.arange(key.shape[-2]).unsqueeze(0) <= rows
        scores = torch.where(may_look, scores, -math.inf)
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return torch.where(mask, scores, -math.inf)
    return scores + mask.float()


def _weights(scores: Tensor) -> Tensor:
    """Softmax; zeros in a row that is masked wholly."""
    largest = scores.amax(-1, keepdim=True)
    largest = torch.where(largest == -math.inf, 0.0, largest)
    powers = torch.exp(scores - largest)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def _in_rows(out: Tensor) -> Tensor:
    """[batch, heads, rows, width] laid out as the CPU's kernel does: heads inside of rows."""
    return out.transpose(1, 2).contiguous().transpose(1, 2)


def _repeated(query: Tensor, key: Tensor, *, enable_gqa: bool) -> Tensor:
    if not enable_gqa or query.shape[-3] == key.shape[-3]:
        return key
    return key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)


@decomposes(_aten.scaled_dot_product_attention.default)
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(query @ key^T * scale + attn_mask) @ value`."""
    key = _repeated(query, key, enable_gqa=enable_gqa)
    value = _repeated(query, value, enable_gqa=enable_gqa)
    weights = _weights(_scores(query, key, attn_mask, scale, is_causal=is_causal))
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    out = torch.matmul(weights.to(value.dtype), value)
    return _in_rows(out) if out.dim() == 4 else out


@decomposes(_aten._scaled_dot_product_flash_attention_for_cpu.default)
def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention, and the logarithm of the sum of exponentials of each row, in f32."""
    scores = _scores(query, key, attn_mask, scale, is_causal=is_causal)
    out = torch.matmul(_weights(scores).to(value.dtype), value)
    return _in_rows(out), torch.logsumexp(scores, -1)


@decomposes(_aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def flash_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients to query, key and value, computed in f32."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = _weights(_scores(query, key, attn_mask, scale, is_causal=is_causal))
    grad, wide_value = grad_out.float(), value.float()
    to_value = torch.matmul(weights.transpose(-2, -1), grad)
    to_weights = torch.matmul(grad, wide_value.transpose(-2, -1))
    inner = (grad * out.float()).sum(-1, keepdim=True)
    to_scores = weights * (to_weights - inner) * factor
    to_query = torch.matmul(to_scores, key.float())
    to_key = torch.matmul(to_scores.transpose(-2, -1), query.float())
    return (
        _in_rows(to_query.to(query.dtype)),
        _in_rows(to_key.to(key.dtype)),
        _in_rows(to_value.to(value.dtype)),
    )


@decomposes(_aten._scaled_dot_product_attention_math.default)
def math_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Tensor, Tensor] | Any:
    """Attention, and its weights."""
    if dropout_mask is not None or dropout_p > 0:
        return NotImplemented
    key = _repeated(query, key, enable_gqa=enable_gqa)
    value = _repeated(query, value, enable_gqa=enable_gqa)
    weights = _weights(_scores(query, key, attn_mask, scale, is_causal=is_causal)).to(value.dtype)
    return torch.matmul(weights, value), weights
