"""bf16 and f16 with numbers: PyTorch computes in f32, keeps the number in it, and rounds once.

As `binary_kernel_reduced_floating_vec_opmath_support` in aten/src/ATen/native/cpu.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import widened
from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten
_HALVES = {torch.bfloat16: ml_dtypes.bfloat16, torch.float16: np.float16}


def _loses(x: Any, dtype: torch.dtype) -> bool:
    """Whether `x`, a number or a tensor of one, is another in `dtype`."""
    if isinstance(x, Tensor):
        return x.dim() == 0 and x.dtype.is_floating_point and x.dtype != dtype
    return isinstance(x, int | float) and float(_HALVES[dtype](x)) != x


def _f32(x: Any) -> Any:
    return x.to(torch.float32) if isinstance(x, Tensor) else x


def _of_two(x: Any, y: Any) -> torch.dtype | None:
    """The half type that `x` and `y` give, if `y` loses by it; of a first number eager rounds."""
    dtype = torch.result_type(x, y)
    return dtype if dtype in _HALVES and _loses(y, dtype) else None


@decomposes(_aten.mul.Tensor)
def multiply(x: Any, y: Any) -> Tensor | Any:
    """The product."""
    dtype = _of_two(x, y)
    return NotImplemented if dtype is None else (_f32(x) * _f32(y)).to(dtype)


@decomposes(_aten.div.Tensor, _aten.div.Scalar)
def quotient(x: Any, y: Any) -> Tensor | Any:
    """The quotient."""
    dtype = _of_two(x, y)
    return NotImplemented if dtype is None else (_f32(x) / _f32(y)).to(dtype)


def _sum(op: Callable[..., Tensor]) -> Callable[..., Tensor | Any]:
    def decomposition(x: Any, y: Any, *, alpha: Any = 1) -> Tensor | Any:
        dtype = torch.result_type(x, y)
        if alpha == 1 or dtype not in _HALVES:
            return NotImplemented
        factor = float(_HALVES[dtype](alpha))  # which eager rounds
        return op(_f32(x), _f32(y) * factor).to(dtype)

    return decomposition


decomposes(_aten.add.Tensor)(_sum(torch.add))
decomposes(_aten.sub.Tensor)(_sum(torch.sub))


def _in_f32(op: Any) -> Callable[..., Tensor | Any]:
    def decomposition(x: Tensor, *args: Any, **kwargs: Any) -> Tensor | Any:
        if x.dtype not in _HALVES:
            return NotImplemented
        return op(x.to(torch.float32), *args, **kwargs).to(x.dtype)

    return decomposition


for _op in (_aten.leaky_relu, _aten.elu):
    decomposes(_op.default)(_in_f32(_op))


@decomposes(_aten.softshrink.default)
def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """Nearer to zero by `lambd`."""
    wide = widened(x)
    below = torch.where(wide < -lambd, wide + lambd, wide * 0)
    return torch.where(wide > lambd, wide - lambd, below).to(x.dtype)


@decomposes(_aten.rms_norm.default)
def rms_norm(
    x: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Over the root of the mean of the squares, rounded once, after the weight."""
    wide = widened(x)
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    dims = list(range(-len(normalized_shape), 0))
    made = wide * torch.rsqrt(wide.square().mean(dims, keepdim=True) + eps)
    if weight is not None:
        made = made * weight.to(wide.dtype)
    return made.to(x.dtype)
