"""PyTorch's own integer quantization: `fake_quantize_*`, `quantized_decomposed`, int8 weights."""

from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten
_PLAIN = {
    "quantize_per_tensor": "quantize_per_tensor",
    "quantize_per_channel": "quantize_per_channel",
    "dequantize_per_channel": "dequantize_per_channel",
    "quantize_per_token": "quantize_per_token",
    "dequantize_per_token": "dequantize_per_token",
    "choose_qparams_per_token": "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric": "_choose_qparams_per_token_asymmetric_impl",
    "dequantize_per_channel_group": "dequantize_per_channel_group",
}
"""Ops whose implementation in PyTorch is one of tensors alone, under its name there."""
_LIBRARY = "torch.ao.quantization.fx._decomposed"


def of_quantized_decomposed() -> dict[Any, Any]:
    """Decompositions of the ops that `torch.ao.quantization` registers, if it is imported."""
    ops: Any = torch.ops.quantized_decomposed
    if not hasattr(ops, "quantize_per_channel"):
        return {}
    library = import_module(_LIBRARY)
    found = {getattr(ops, op).default: getattr(library, name) for op, name in _PLAIN.items()}
    found[ops.quantize_per_channel_group.default] = _quantize_group
    found[ops.choose_qparams.tensor] = _choose
    found[ops.choose_qparams_symmetric.tensor] = _choose_symmetric
    for overload in ("tensor", "tensor2"):
        found[getattr(ops.quantize_per_tensor, overload)] = _quantize
    for overload in ("default", "tensor", "tensor2"):
        found[getattr(ops.dequantize_per_tensor, overload)] = _dequantize
    return found


def _quantize(
    x: Tensor, scale: Tensor, zero_point: Tensor, low: Any, high: Any, dtype: torch.dtype
) -> Tensor:
    codes = torch.round(x.float() * _inverse(scale)) + zero_point.float()
    return torch.clamp(codes, low, high).to(dtype)


def _dequantize(
    x: Tensor,
    scale: Any,
    zero_point: Any,
    low: Any,
    high: Any,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """As eager mode, whose scale is a number: each op in f32 at least, rounded to `out_dtype`."""
    result = out_dtype or torch.float32
    wide = torch.promote_types(result, torch.float32)
    if isinstance(scale, Tensor):
        scale, zero_point = scale.to(wide), zero_point.to(wide)
    moved = (x.to(result).to(wide) - zero_point).to(result)
    return (moved.to(wide) * scale).to(result)


def _inverse(scale: Tensor) -> Tensor:
    """As a Python number, a double, in eager mode: rounded to f32 as it multiplies."""
    return (1.0 / scale.double()).float()


def _quantize_group(
    x: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    low: int,
    high: int,
    dtype: torch.dtype,
    group_size: int = 128,
) -> Tensor:
    size = x.shape[-1] if group_size > x.shape[-1] and scales.shape[-1] == 1 else group_size
    groups = x.reshape(-1, size)
    codes = groups * (1.0 / scales.reshape(-1, 1)) + zero_points.reshape(-1, 1)
    return codes.round().clamp(low, high).to(dtype).reshape(x.shape)


def _choose(
    x: Tensor, low: int, high: int, eps: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    least, most = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = torch.clamp((most - least) / float(high - low), min=float(np.float32(eps)))
    zero_point = low - torch.round(least / scale).to(torch.int32)
    return _parameters(scale, zero_point.clamp(low, high))


def _choose_symmetric(
    x: Tensor, low: int, high: int, eps: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    most = torch.maximum(-x.amin().clamp(max=0), x.amax().clamp(min=0))
    scale = torch.clamp(most / (float(high - low) / 2), min=float(np.float32(eps)))
    middle = 128 if dtype in (torch.uint8, torch.quint8) else 0
    return _parameters(scale, torch.full([], middle, dtype=torch.int64))


def _parameters(scale: Tensor, zero_point: Tensor) -> tuple[Tensor, Tensor]:
    return scale.double().reshape(1), zero_point.long().reshape(1)


@decomposes(_aten.fake_quantize_per_tensor_affine.tensor_qparams)
def fake_quantize(x: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int) -> Tensor:
    """Codes between `low` and `high`, dequantized: to nearest even, with one scale."""
    return _faked(x, scale, zero_point.int(), low, high)[0]


@decomposes(_aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def fake_quantize_where_enabled(
    x: Tensor, scale: Tensor, zero_point: Tensor, enabled: Tensor, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """The same, and which elements were in the range; `x`, and all, where it is not enabled."""
    faked, kept = _faked(x, scale, zero_point.int(), low, high)
    return torch.where(enabled != 0, faked, x), kept | (enabled == 0)


@decomposes(_aten.fake_quantize_per_tensor_affine_cachemask.default)
def fake_quantize_with_mask(
    x: Tensor, scale: float, zero_point: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """The same, and which elements were in the range: those have a gradient."""
    # As eager mode: the scale and its inverse are f32.
    rounded = torch.full([], scale, dtype=torch.float32)
    return _faked(x, rounded, torch.full([], zero_point, dtype=torch.int32), low, high)


def _faked(
    x: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Zero points that are floats are added before codes are rounded, integers after."""
    scale, zero = scale.float(), zero_point.float()
    scaled = x.float() * (1.0 / scale)
    is_float = zero_point.is_floating_point()
    codes = torch.round(scaled + zero) if is_float else torch.round(scaled) + zero
    kept = (codes >= low) & (codes <= high)
    return ((codes.clamp(low, high) - zero) * scale).to(x.dtype), kept


@decomposes(_aten.fake_quantize_per_channel_affine.default)
def fake_quantize_channels(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, low: int, high: int
) -> Tensor:
    """The same with a scale for each place along `axis`."""
    return fake_quantize_channels_with_mask(x, scale, zero_point, axis, low, high)[0]


@decomposes(_aten.fake_quantize_per_channel_affine_cachemask.default)
def fake_quantize_channels_with_mask(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """The same, and which elements were in the range."""
    shape = [1] * x.dim()
    shape[axis] = -1
    return _faked(x, scale.reshape(shape), zero_point.reshape(shape), low, high)


@decomposes(_aten._weight_int8pack_mm.default)
def weight_int8pack_mm(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    """`x @ weight.T * scales` of int8 `weight` [n, k], in f32, rounded once."""
    return (torch.mm(x.float(), weight.float().t()) * scales.float()).to(x.dtype)
