"""Writes where a mask of booleans says, and draws from weights."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


@decomposes(_aten.index_put.default)
def index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor | Any:
    """`x[..., mask] = values`: one value for all places, or one for each in their order."""
    given = [(i, each) for i, each in enumerate(indices) if each is not None]
    if len(given) != 1 or given[0][1].dtype != torch.bool:
        return NotImplemented
    start, mask = given[0]
    after = x.dim() - start - mask.dim()
    missing = start + 1 + after - values.dim()
    values = values.reshape(*[1] * missing, *values.shape)
    count = values.shape[start]
    if isinstance(count, torch.SymInt):  # of a size that depends on data, which is refused
        return NotImplemented
    if count == 0:
        return x.clone()
    if count == 1:
        spread = values.reshape(
            *values.shape[:start], *[1] * mask.dim(), *values.shape[start + 1 :]
        )
    else:  # as many as there are places in the mask, which eager checks
        place = mask.reshape(-1).to(torch.int64).cumsum(0) - 1
        taken = values.index_select(start, place.clamp(0, count - 1))
        spread = taken.unflatten(start, mask.shape)
    where = mask.reshape(*mask.shape, *[1] * after)
    return torch.where(where, x + spread if accumulate else spread, x)


@decomposes(_aten.multinomial.default)
def multinomial(
    weights: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Places drawn with the probability of their weights: the first arrivals of exponential times.

    Weights of which fewer are positive than are drawn are not refused.
    """
    wide = weights.float()
    shape = [*wide.shape[:-1], num_samples if replacement else 1, wide.shape[-1]]
    times = -torch.log1p(-torch.rand(shape))
    rates = wide.unsqueeze(-2) / times.clamp(min=1e-30)
    if replacement:
        return rates.argmax(-1)
    order = _aten.sort.stable(rates.squeeze(-2), stable=True, dim=-1, descending=True)[1]
    return order[..., :num_samples]
