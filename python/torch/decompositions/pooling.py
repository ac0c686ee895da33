"""Pooling where PyTorch leaves its backward, or torch-mlir its factor, to kernels."""

from collections.abc import Sequence

import torch
from torch import Tensor

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
