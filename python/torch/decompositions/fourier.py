"""Fourier transforms, one dimension after the other, each by `stablehlo.fft`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def _is_last(x: Tensor, dims: Sequence[int]) -> bool:
    return len(dims) == 1 and dims[0] % x.dim() == x.dim() - 1


def _along(x: Tensor, dim: int, transform: Callable[[Tensor], Tensor]) -> Tensor:
    """`transform` of the last dimension, of another one."""
    return transform(x.movedim(dim, -1)).movedim(-1, dim)


@decomposes(_aten._fft_c2c.default)
def c2c(x: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor | Any:
    """Complex numbers to complex numbers."""
    if _is_last(x, dim):
        return NotImplemented
    for each in dim:
        x = _along(x, each, lambda y: _aten._fft_c2c(y, [y.dim() - 1], normalization, forward))
    return x.clone()


@decomposes(_aten._fft_r2c.default)
def r2c(x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor | Any:
    """Real numbers to complex numbers, of the last of `dim` half if `onesided`."""
    if not onesided:
        return c2c_of(torch.complex(x, torch.zeros_like(x)), dim, normalization, forward=True)
    if _is_last(x, dim):
        return NotImplemented
    half = _along(x, dim[-1], lambda y: _aten._fft_r2c(y, [y.dim() - 1], normalization, True))
    return c2c_of(half, dim[:-1], normalization, forward=True)


@decomposes(_aten._fft_c2r.default)
def c2r(x: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor | Any:
    """Halves of complex numbers to real ones, `last_dim_size` of them along the last of `dim`."""
    if _is_last(x, dim):
        return NotImplemented
    x = c2c_of(x, dim[:-1], normalization, forward=False)
    return _along(
        x, dim[-1], lambda y: _aten._fft_c2r(y, [y.dim() - 1], normalization, last_dim_size)
    )


def c2c_of(x: Tensor, dim: Sequence[int], normalization: int, *, forward: bool) -> Tensor:
    """`c2c`, also of no dimension."""
    return _aten._fft_c2c(x, list(dim), normalization, forward) if dim else x


def _transform(body: Body, kind: str, size: int, *, is_inverse: bool) -> None:
    (source,), (target,) = body.inputs, body.outputs
    if 0 in target.shape:
        body.give(_filled(body, target, 0.0))
        return
    text = f"stablehlo.fft %arg0, type = {kind}, length = [{size}] : ({source}) -> {target}"
    value = body.let(text)
    factor = _factor(body.argument("normalization", 2), size) * (size if is_inverse else 1)
    if factor != 1:
        by = _filled(body, target, factor)
        value = body.let(f"stablehlo.multiply {value}, {by} : {target}")
    body.give(value)


def _factor(normalization: int, size: int) -> float:
    """None, the root of the size, or the size: at::native::fft_norm_mode."""
    return (1.0, 1 / math.sqrt(size), 1 / size)[normalization]


def _filled(body: Body, type_: Any, number: float) -> str:
    real = like(type_, "f64" if "f64" in str(type_) else "f32")
    value = body.constant(f"{number:e}", real)
    if "complex" not in str(type_):
        return value
    zero = body.constant("0.0", real)
    return body.let(f"stablehlo.complex {value}, {zero} : ({real}, {real}) -> {type_}")


@writes(_aten._fft_c2c.default)
def write_c2c(body: Body) -> None:
    """Along the last dimension."""
    is_forward = body.argument("forward", 3)
    size = body.inputs[0].shape[-1]
    _transform(body, "FFT" if is_forward else "IFFT", size, is_inverse=not is_forward)


@writes(_aten._fft_r2c.default)
def write_r2c(body: Body) -> None:
    """Along the last dimension, one half."""
    _transform(body, "RFFT", body.inputs[0].shape[-1], is_inverse=False)


@writes(_aten._fft_c2r.default)
def write_c2r(body: Body) -> None:
    """Along the last dimension."""
    _transform(body, "IRFFT", body.outputs[0].shape[-1], is_inverse=True)
