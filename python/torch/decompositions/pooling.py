"""Pooling where PyTorch leaves its backward, or torch-mlir its factor, to kernels."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import widened
from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


@decomposes(_aten.max_pool2d_with_indices_backward.default)
def max_pool2d_backward(
    grad_out: Tensor,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """Gradients go to the elements that were largest, whose places in a plane are `indices`."""
    return to_places(x, grad_out, indices, 2)


@decomposes(_aten.max_pool3d_with_indices_backward.default)
def max_pool3d_backward(
    grad_out: Tensor,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """As `max_pool2d_backward`, in volumes."""
    return to_places(x, grad_out, indices, 3)


def to_places(x: Tensor, grad_out: Tensor, indices: Tensor, dims: int) -> Tensor:
    """Gradients added up at places in the last `dims` dimensions of `x`."""
    outer = x.shape[:-dims]
    zeros = x.new_zeros((*outer, math.prod(x.shape[-dims:])))
    grad, places = (each.reshape(*outer, -1) for each in (grad_out, indices))
    return zeros.scatter_add(-1, places, grad).reshape(x.shape)


def first_largest(values: Tensor, places: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest along the last dimension and the first of the places that has it, of NaN the
    last; places from `count` on are outside.
    """
    largest = values.amax(-1, keepdim=True)
    inside = places < count
    first = torch.where((values == largest) & inside, places, count).amin(-1)
    last = torch.where(values.isnan() & inside, places, -1).amax(-1)
    return largest.squeeze(-1), torch.where(last >= 0, last, first)


@decomposes(_aten.avg_pool2d.default)
def avg_pool2d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor | Any:
    """Windows that reach beyond the end, where torch-mlir has them only within."""
    if not ceil_mode and count_include_pad and divisor_override is None:
        return NotImplemented
    given = kernel_size, stride, padding
    return _avg_pool(x, 2, *given, ceil_mode, count_include_pad, divisor_override)


@decomposes(_aten.avg_pool3d.default)
def avg_pool3d(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means of windows of three dimensions, of which torch-mlir gives the sums."""
    given = kernel_size, stride, padding
    return _avg_pool(x, 3, *given, ceil_mode, count_include_pad, divisor_override)


def _avg_pool(
    x: Tensor,
    rank: int,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Tensor:
    window, pads, steps = (
        of_rank(each, rank) for each in (kernel_size, padding, stride or kernel_size)
    )
    ends = ends_of(x.shape[-rank:], window, steps, pads, [1] * rank, ceil_mode=ceil_mode)
    wide = widened(x)
    total = _window_sums(torch.constant_pad_nd(wide, _both(pads, ends), 0), window, steps)
    if divisor is None:
        divisor = _counts(wide, window, steps, pads, ends, count_include_pad)
    return (total / divisor).to(x.dtype)


def _counts(
    x: Tensor,
    window: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    ends: Sequence[int],
    count_include_pad: bool,
) -> Tensor:
    """Of each window the elements that its mean is of."""
    rank = len(window)
    ones = torch.ones(x.shape[-rank:], dtype=x.dtype)
    if count_include_pad:  # but for what only the last windows reach
        ones = torch.constant_pad_nd(ones, _both(pads, pads), 1)
        beyond = [end - pad for end, pad in zip(ends, pads, strict=True)]
        ones = torch.constant_pad_nd(ones, _both([0] * rank, beyond), 0)
    else:
        ones = torch.constant_pad_nd(ones, _both(pads, ends), 0)
    return _window_sums(ones, window, steps)


@decomposes(_aten.avg_pool2d_backward.default, _aten.avg_pool3d_backward.default)
def avg_pool_backward(
    grad_out: Tensor,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """To each element the gradients of the windows that it is in."""
    rank = len(kernel_size)
    window, pads, steps = (
        of_rank(each, rank) for each in (kernel_size, padding, stride or kernel_size)
    )
    ends = ends_of(x.shape[-rank:], window, steps, pads, [1] * rank, ceil_mode=ceil_mode)
    grad = widened(grad_out)
    divisor: Any = divisor_override
    if divisor is None:
        divisor = _counts(grad.new_empty(x.shape), window, steps, pads, ends, count_include_pad)
    grad = grad / divisor
    for dim, size, step, pad, end in zip(range(-rank, 0), window, steps, pads, ends, strict=True):
        sizes = list(grad.shape)
        sizes[dim] = x.shape[dim] + pad + end
        spread = grad.unsqueeze(-1).expand(*grad.shape, size)
        grad = _aten.unfold_backward(spread, sizes, dim % x.dim(), size, step)
    cut = [-each for each in _both(pads, ends)]
    return torch.constant_pad_nd(grad, cut).to(x.dtype)


def ends_of(
    sizes: Sequence[int],
    window: Sequence[int],
    steps: Sequence[int],
    pads: Sequence[int],
    apart: Sequence[int],
    *,
    ceil_mode: bool,
) -> list[int]:
    """Padding at the end of each dimension, as `at::native::pooling_output_shape`; no window
    starts in it.
    """
    ends = []
    for size, width, step, pad, wide in zip(sizes, window, steps, pads, apart, strict=True):
        reach = wide * (width - 1) + 1
        left = size + 2 * pad - reach
        count = (left + step - 1 if ceil_mode else left) // step + 1
        if ceil_mode and (count - 1) * step >= size + pad:
            count -= 1
        ends.append(max((count - 1) * step + reach - size - pad, pad))
    return ends


def _both(starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """As `constant_pad_nd` takes it: the last dimension first."""
    pairs = reversed(list(zip(starts, ends, strict=True)))
    return [each for pair in pairs for each in pair]


def of_rank(sizes: Sequence[int], rank: int) -> list[int]:
    return list(sizes) * rank if len(sizes) == 1 else list(sizes)


def _window_sums(x: Tensor, window: Sequence[int], steps: Sequence[int]) -> Tensor:
    rank = len(window)
    for dim, size, step in zip(range(-rank, 0), window, steps, strict=True):
        x = x.unfold(dim, size, step).sum(-1)
    return x
