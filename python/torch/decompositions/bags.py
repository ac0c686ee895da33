"""Embedding bags: sums and means of rows, and their gradients."""

from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten
_SUM, _MEAN = 0, 1


@decomposes(
    _aten._embedding_bag.default,
    _aten._embedding_bag_forward_only.default,
    _aten.embedding_bag.padding_idx,
)
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor] | Any:
    """Rows of `weight` [n, width] at `indices`, added up from each of `offsets` to the next.

    Besides, the bag of each index, how many indices each bag has, and, of maxima, nothing.
    """
    if mode not in (_SUM, _MEAN):
        return NotImplemented
    bags = offsets.shape[0] - include_last_offset
    places = torch.arange(indices.shape[0], dtype=offsets.dtype)
    begun = places.unsqueeze(1) >= offsets[:bags].unsqueeze(0)
    bag_of = begun.to(indices.dtype).sum(1) - 1
    counts = _kept(indices, padding_idx)
    sizes = counts.new_zeros(bags).index_add(0, bag_of, counts)
    if include_last_offset:  # what comes after it is in no bag
        counts = counts * (places < offsets[bags]).to(counts.dtype)
    rows = weight.index_select(0, indices) * counts.unsqueeze(1).to(weight.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    sums = weight.new_zeros(bags, weight.shape[1]).index_add(0, bag_of, rows)
    if mode == _MEAN:
        sums = sums / sizes.clamp(min=1).unsqueeze(1).to(sums.dtype)
    return sums, bag_of, sizes, offsets.new_zeros(0)


@decomposes(_aten._embedding_bag_backward.default)
def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    bag_of: Tensor,
    sizes: Tensor,
    largest: Tensor,
    count: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor | Any:
    """What each of `count` rows of the weight gets of the gradients of the bags that it is in."""
    if mode not in (_SUM, _MEAN) or scale_grad_by_freq or sparse:
        return NotImplemented
    rows = grad.index_select(0, bag_of)
    if mode == _MEAN:
        parts = sizes.clamp(min=1).index_select(0, bag_of)
        rows = rows / parts.unsqueeze(1).to(rows.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    rows = rows * _kept(indices, padding_idx).unsqueeze(1).to(rows.dtype)
    return grad.new_zeros(count, grad.shape[1]).index_add(0, indices, rows)


def _kept(indices: Tensor, padding_idx: int | None) -> Tensor:
    if padding_idx is None or padding_idx < 0:
        return torch.ones_like(indices)
    return (indices != padding_idx).to(indices.dtype)
