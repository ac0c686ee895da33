"""Pooling whose windows are given by the size of the result, and its gradients.

Window `i` of `out` over `size` elements is `[floor(i * size / out), ceil((i + 1) * size / out))`
along each dimension, as in `aten/src/ATen/native/AdaptivePooling.h`.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import widened
from mlir_fp8.torch.decompositions.pooling import first_largest, to_places
from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


def _edges(size: int, out: int) -> tuple[Tensor, Tensor, int]:
    """Where windows start, how many elements they have, and the most that one has."""
    window = torch.arange(out)
    starts = torch.div(window * size, out, rounding_mode="floor")
    ends = torch.div((window + 1) * size + out - 1, out, rounding_mode="floor")
    widest = max((-(-(i + 1) * size // out) - i * size // out for i in range(out)), default=0)
    return starts, ends - starts, widest


def _along(x: Tensor, dim: int, rank: int) -> Tensor:
    """A row as a tensor of `rank` dimensions that has it along `dim`, which counts from the end."""
    return x.view([1] * (rank + dim) + [x.shape[0]] + [1] * (-dim - 1))


def _windows(x: Tensor, dim: int, out: int, beyond: Any) -> Tensor:
    """Windows along `dim`, whose elements are a new last dimension, `beyond` where too few."""
    size = x.shape[dim]
    starts, counts, widest = _edges(size, out)
    step = torch.arange(widest)
    places = (starts.unsqueeze(1) + step).clamp(max=size - 1)
    taken = x.index_select(dim, places.reshape(-1))
    place = x.dim() + dim
    taken = taken.unflatten(place, (out, widest)).movedim(place + 1, -1)
    inside = step < _along(counts, dim, x.dim()).unsqueeze(-1)
    return torch.where(inside, taken, beyond)


@decomposes(_aten._adaptive_avg_pool3d.default)
def adaptive_avg_pool3d(x: Tensor, output_size: Sequence[int]) -> Tensor:
    """Means of windows, in f32 of bf16 and f16."""
    wide = widened(x)
    for dim, out in zip((-3, -2, -1), output_size, strict=True):
        _, counts, _ = _edges(wide.shape[dim], out)
        sums = _windows(wide, dim, out, 0.0).sum(-1)
        wide = sums / _along(counts, dim, x.dim()).to(wide.dtype)
    return wide.to(x.dtype)


@decomposes(_aten._adaptive_avg_pool2d_backward.default)
def adaptive_avg_pool2d_backward(grad_out: Tensor, x: Tensor) -> Tensor:
    """Each element's share of the gradients of all windows that it is in."""
    return _shared(grad_out, x, 2)


@decomposes(_aten._adaptive_avg_pool3d_backward.default)
def adaptive_avg_pool3d_backward(grad_out: Tensor, x: Tensor) -> Tensor:
    """As `adaptive_avg_pool2d_backward`, in volumes."""
    return _shared(grad_out, x, 3)


def _shared(grad_out: Tensor, x: Tensor, rank: int) -> Tensor:
    grad = widened(grad_out)
    for dim in range(-rank, 0):
        size, out = x.shape[dim], grad.shape[dim]
        starts, counts, widest = _edges(size, out)
        counts = _along(counts, dim, grad.dim())
        share = grad / counts.to(grad.dtype)
        sizes = list(grad.shape)
        sizes[dim] = size
        grad = grad.new_zeros(sizes)
        for step in range(widest):
            part = torch.where(counts > step, share, 0.0)
            grad = grad.index_add(dim, (starts + step).clamp(max=size - 1), part)
    return grad.to(x.dtype)


@decomposes(_aten.adaptive_max_pool2d.default)
def adaptive_max_pool2d(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest of windows, and their places in a plane."""
    return _largest(x, output_size)


@decomposes(_aten.adaptive_max_pool3d.default)
def adaptive_max_pool3d(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest of windows, and their places in a volume."""
    return _largest(x, output_size)


def _largest(x: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    rank = len(output_size)
    sizes = x.shape[-rank:]
    count = math.prod(sizes)
    values, places = x, torch.arange(count).reshape(sizes)
    lowest: Any = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    for out in output_size:
        # The windows of each dimension that is done are one more last dimension.
        values = _windows(values, -rank, out, lowest)
        places = _windows(places, -rank, out, count)
    return first_largest(values.flatten(-rank), places.flatten(-rank), count)


@decomposes(_aten.adaptive_max_pool2d_backward.default)
def adaptive_max_pool2d_backward(grad_out: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Gradients go to the elements that were largest."""
    return to_places(x, grad_out, indices, 2)


@decomposes(_aten.adaptive_max_pool3d_backward.default)
def adaptive_max_pool3d_backward(grad_out: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """As `adaptive_max_pool2d_backward`, in volumes."""
    return to_places(x, grad_out, indices, 3)
