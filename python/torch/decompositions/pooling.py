"""Pooling where PyTorch leaves its backward, or torch-mlir its factor, to kernels."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mlir_fp8.base.errors import Fp8Error
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
    planes = x.shape[:-2]
    zeros = x.new_zeros((*planes, x.shape[-2] * x.shape[-1]))
    grad, places = (each.reshape(*planes, -1) for each in (grad_out, indices))
    return zeros.scatter_add(-1, places, grad).reshape(x.shape)


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
    if ceil_mode:
        raise Fp8Error("'aten.avg_pool3d' has no lowering with ceil_mode: pad its input instead")
    window, pads = _of_three(kernel_size), _of_three(padding)
    steps = _of_three(stride or kernel_size)
    total = _window_sums(x, window, steps, pads)
    if divisor_override is not None:
        return total / divisor_override
    if count_include_pad:
        return total / math.prod(window)
    return total / _window_sums(torch.ones_like(x), window, steps, pads)


def _of_three(sizes: Sequence[int]) -> list[int]:
    return list(sizes) * 3 if len(sizes) == 1 else list(sizes)


def _window_sums(
    x: Tensor, window: Sequence[int], steps: Sequence[int], pads: Sequence[int]
) -> Tensor:
    x = torch.constant_pad_nd(x, [each for pad in reversed(pads) for each in (pad, pad)], 0)
    for dim, size, step in zip((-3, -2, -1), window, steps, strict=True):
        x = x.unfold(dim, size, step).sum(-1)
    return x
