"""Gradients of transposed convolutions, which are convolutions."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


@decomposes(_aten.convolution_backward.default)
def convolution_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None] | Any:
    """Of a transposed one to `x` [n, i, ...], weight [i, o / groups, ...] and bias [o].

    What it does to `x` a convolution undoes: of gradients by the same weight, whose own gradient is
    that of this convolution.
    """
    if not transposed:
        return NotImplemented
    none = [0] * len(stride)
    to_x = to_weight = to_bias = None
    if output_mask[0]:
        to_x = _aten.convolution.default(
            grad, weight, None, stride, padding, dilation, False, none, groups
        )
    if output_mask[1]:
        mask = [False, True, False]
        _, to_weight, _ = _aten.convolution_backward.default(
            x, grad, weight, None, stride, padding, dilation, False, none, groups, mask
        )
    if output_mask[2]:
        to_bias = grad.sum([0, *range(2, grad.dim())])
    return to_x, to_weight, to_bias
