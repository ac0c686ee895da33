"""Gradients of `interpolate` by the nearest element."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


def _backward(shift: float) -> Any:
    """What the elements are whose middles, or for no `shift` whose starts, are nearest."""

    def backward(
        grad: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        *scales: float | None,
    ) -> Tensor:
        dims = range(2, grad.dim())
        for dim, scale in zip(dims, scales or [None] * len(dims), strict=True):
            size, count = input_size[dim], grad.shape[dim]
            step = torch.full((), 1.0 / scale if scale else size / count, dtype=torch.float32)
            places = (torch.arange(count, dtype=torch.float32) + shift) * step
            places = places.floor().to(torch.int64).clamp(max=size - 1)
            shape = [*grad.shape[:dim], size, *grad.shape[dim + 1 :]]
            grad = grad.new_zeros(shape).index_add(dim, places, grad)
        return grad

    return backward


for _rank in (1, 2, 3):
    decomposes(getattr(_aten, f"upsample_nearest{_rank}d_backward").default)(_backward(0.0))
    decomposes(getattr(_aten, f"_upsample_nearest_exact{_rank}d_backward").default)(_backward(0.5))
