"""Tensors without elements where torch-mlir has no lowering of them."""

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


@decomposes(_aten.slice.Tensor)
def empty_slice(
    x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor | Any:
    """A slice of nothing."""
    size = x.shape[dim]
    if not all(type(each) is int for each in (size, start or 0, end or 0, step)):
        return NotImplemented
    first, last, _ = slice(start, end, step).indices(size)
    if first < last:
        return NotImplemented
    shape = list(x.shape)
    shape[dim] = 0
    return x.new_zeros(shape)


@decomposes(_aten.cat.default)
def cat_of_some(tensors: Sequence[Tensor], dim: int = 0) -> Tensor | Any:
    """Those that have elements along the dimension; [0] goes with every shape."""
    whole = [each for each in tensors if tuple(each.shape) != (0,)] or list(tensors)
    kept = [each for each in whole if each.shape[dim] != 0]
    if len(kept) == len(tensors):
        return NotImplemented
    dtype = functools.reduce(torch.promote_types, (each.dtype for each in tensors))
    kept = [each.to(dtype) for each in kept or whole[:1]]
    return torch.cat(kept, dim) if len(kept) > 1 else kept[0].clone()
