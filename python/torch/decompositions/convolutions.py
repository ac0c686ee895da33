"""Gradients of transposed and of grouped convolutions."""

import itertools
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
    """Gradients to `x` [n, i, ...], weight and bias; torch-mlir knows those without groups.

    What a transposed convolution does to `x` a convolution undoes: of gradients by the same weight,
    whose own gradient is that of this convolution.
    """
    if not transposed and groups == 1 and len(stride) == 2:
        return NotImplemented
    none = [0] * len(stride)
    sizes = stride, padding, dilation
    to_x = to_weight = to_bias = None
    if output_mask[0] and transposed:
        to_x = _aten.convolution.default(grad, weight, None, *sizes, False, none, groups)
    elif output_mask[0]:
        to_x = _to_x(grad, weight, x.shape[2:], *sizes, groups)
    if output_mask[1]:
        given, wanted = (grad, x) if transposed else (x, grad)
        to_weight = _to_weight(given, wanted, weight.shape, *sizes, groups)
    if output_mask[2]:
        to_bias = grad.sum([0, *range(2, grad.dim())])
    return to_x, to_weight, to_bias


def _to_weight(
    x: Tensor,
    grad: Tensor,
    shape: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A product per element of the window, of gradients and of what they were multiplied with."""
    x = torch.constant_pad_nd(x, [pad for each in reversed(padding) for pad in (each, each)])
    outer, inner = shape[0] // groups, shape[1]
    left = grad.reshape(grad.shape[0], groups, outer, -1)
    left = left.permute(1, 2, 0, 3).reshape(groups, outer, -1)
    products = []
    for place in itertools.product(*map(range, shape[2:])):
        part = x
        steps = zip(place, stride, dilation, grad.shape[2:], strict=True)
        for dim, (position, step, apart, count) in enumerate(steps, 2):
            first = position * apart
            part = _aten.slice.Tensor(part, dim, first, first + (count - 1) * step + 1, step)
        part = part.reshape(x.shape[0], groups, inner, -1)
        part = part.permute(1, 0, 3, 2).reshape(groups, -1, inner)
        products.append(torch.bmm(left, part))
    return torch.stack(products, -1).reshape(shape)


def _to_x(
    grad: Tensor,
    weight: Tensor,
    sizes: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution by the turned weight, of gradients with zeros between them."""
    outer, inner, *window = weight.shape
    turned = weight.reshape(groups, outer // groups, inner, *window).transpose(1, 2)
    turned = turned.reshape(groups * inner, outer // groups, *window)
    turned = turned.flip(list(range(2, weight.dim())))
    pads: list[int] = []
    for dim, (size, step, pad, apart, width) in enumerate(
        zip(sizes, stride, padding, dilation, window, strict=True), 2
    ):
        grad = _spread(grad, dim, step)
        reach = apart * (width - 1)
        before = reach - pad
        pads = [before, size + reach - before - grad.shape[dim], *pads]
    grad = torch.constant_pad_nd(grad, pads)
    ones, none = [1] * len(window), [0] * len(window)
    return _aten.convolution.default(grad, turned, None, ones, none, dilation, False, none, groups)


def _spread(x: Tensor, dim: int, step: int) -> Tensor:
    """`x` with `step - 1` zeros between its elements."""
    if step == 1:
        return x
    apart = torch.constant_pad_nd(
        x.unsqueeze(dim + 1), [0, 0] * (x.dim() - dim - 1) + [0, step - 1]
    )
    return apart.flatten(dim, dim + 1).narrow(dim, 0, (x.shape[dim] - 1) * step + 1)
