"""Views and index arithmetic: which elements go where."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._python_dispatch import _disable_current_modes

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@decomposes(_aten.view.default)
def view(x: Tensor, size: Sequence[int]) -> Tensor | Any:
    """A view, of a copy where a decomposition laid `x` out in another way than PyTorch had."""
    if _is_viewable(x, size):
        return NotImplemented
    return x.clone(memory_format=torch.contiguous_format).view(size)


def _is_viewable(x: Tensor, size: Sequence[int]) -> bool:
    if x.is_contiguous():
        return True
    with unset_fake_temporarily(), _disable_current_modes():
        like = torch.empty_strided(tuple(x.shape), tuple(x.stride()), device="meta")
        try:
            like.view(tuple(size))
        except (RuntimeError, ValueError):  # the latter from Python's own kernels
            return False
    return True


@decomposes(_aten.empty_permuted.default)
def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    """Memory to be written: zeros, as layouts have no meaning in StableHLO."""
    return torch.zeros(size, dtype=options.get("dtype"))


@decomposes(_aten.diagonal.default, _aten.diagonal_copy.default)
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """`y[..., i] = x[i - min(offset, 0), i + max(offset, 0)]` of two dimensions."""
    dim1, dim2 = dim1 % x.dim(), dim2 % x.dim()
    moved = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = moved.shape[-2:]
    first_row, first_column = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first_row, columns - first_column), 0)
    places = torch.arange(count)
    places = (places + first_row) * columns + places + first_column
    return moved.reshape(*moved.shape[:-2], rows * columns).index_select(-1, places)


@decomposes(_aten.unfold.default, _aten.unfold_copy.default)
def unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements along a dimension, as a last dimension."""
    if x.dim() == 0:
        return x.reshape(1)[:size]
    dimension %= x.dim()
    count = (x.shape[dimension] - size) // step + 1
    places = (torch.arange(count) * step).unsqueeze(1) + torch.arange(size).unsqueeze(0)
    taken = x.index_select(dimension, places.reshape(-1))
    return taken.unflatten(dimension, (count, size)).movedim(dimension + 1, -1)


@decomposes(_aten.view_as_complex.default)
def view_as_complex(x: Tensor) -> Tensor:
    """Complex numbers of pairs in the last dimension."""
    return torch.complex(x.select(-1, 0), x.select(-1, 1))


@writes(_aten.view_as_real.default)
def view_as_real(body: Body) -> None:
    """Pairs of the real and imaginary part in a last dimension."""
    (source,), (target,) = body.inputs, body.outputs
    element = str(target.element_type)
    part = like(source, element)
    one = f"tensor<{'x'.join([*map(str, source.shape), '1', element])}>"
    parts = []
    for name in ("real", "imag"):
        value = body.let(f"stablehlo.{name} %arg0 : ({source}) -> {part}")
        parts.append(body.let(f"stablehlo.reshape {value} : ({part}) -> {one}"))
    dim = f"dim = {source.rank}"
    text = f"stablehlo.concatenate {', '.join(parts)}, {dim} : ({one}, {one}) -> {target}"
    body.give(body.let(text))


@decomposes(_aten.searchsorted.Tensor)
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """How many of the sorted come before each value, equal ones too if `right`."""
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    row, value = sorted_sequence.unsqueeze(-2), values.unsqueeze(-1)
    is_right = right or side == "right"
    before = torch.logical_not(row > value if is_right else row >= value)
    if row.is_floating_point():  # NaNs, which are last, come before what all numbers come before
        before = torch.where(row.isnan(), before.all(-1, True), before)
    dtype = torch.int32 if out_int32 else torch.int64
    return before.sum(-1, dtype=dtype).reshape(values.shape)


@decomposes(_aten.bucketize.Tensor)
def bucketize(
    values: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """`searchsorted` of one row of boundaries."""
    return searchsorted(boundaries, values, out_int32=out_int32, right=right)


@decomposes(_aten.histc.default)
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:  # noqa: A002
    """The number of elements in each of `bins` of equal width; the last one is closed."""
    x = x.reshape(-1)
    low: Any = min
    high: Any = max
    if min == max and x.numel():
        low, high = x.min(), x.max()
        same = low == high
        low, high = torch.where(same, low - 1, low), torch.where(same, high + 1, high)
    place = torch.floor((x - low) * bins / (high - low)).to(torch.int64)
    place = torch.where(x == high, bins - 1, place)
    inside = (x >= low) & (x <= high)
    hits = (place.unsqueeze(0) == torch.arange(bins).unsqueeze(1)) & inside.unsqueeze(0)
    return hits.to(x.dtype).sum(1)


@decomposes(_aten._cdist_forward.default)
def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Distances in the p-norm of all rows of `x1` to all of `x2`."""
    apart = (x1.unsqueeze(-2) - x2.unsqueeze(-3)).abs()
    if p == 0:
        return (apart != 0).to(x1.dtype).sum(-1)
    if math.isinf(p):
        return apart.amax(-1)
    if p == 1:
        return apart.sum(-1)
    if p == 2:
        return (apart * apart).sum(-1).sqrt()
    return apart.pow(p).sum(-1).pow(1 / p)


@decomposes(_aten._cdist_backward.default)
def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, distance: Tensor) -> Tensor:
    """The gradient of `x1`; 0 where rows, or elements of them, are equal.

    As `Dist` in aten/src/ATen/native/cpu/DistanceOpsKernel.cpp.
    """
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    size, sign = apart.abs(), apart.sign()
    grad, distance = grad.unsqueeze(-1), distance.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(x1)
    if p == 1:
        part = grad * sign
    elif math.isinf(p):
        part = grad * sign * (size == distance)
    elif p == 2:
        part = torch.where(distance == 0, 0.0, grad * apart / distance)
    else:
        ratio = grad * sign * size.pow(p - 1) / distance.pow(p - 1)
        is_none = (distance == 0) | ((size == 0) & (p < 1))
        part = torch.where(is_none, 0.0, ratio)
    return part.sum(-2)


@decomposes(_aten.gather.default)
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor | Any:
    """`gather` of one element."""
    if index.numel() == 0:
        return x.new_zeros(index.shape)
    if x.dim() and index.dim():
        return NotImplemented
    return x.reshape(-1).gather(0, index.reshape(-1)).reshape(index.shape)


@decomposes(_aten.slice_scatter.default)
def slice_scatter(
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor | Any:
    """`x` with `src` at `start` to `end`: numbers within the size, which torch-mlir asks for."""
    size = x.shape[dim]
    first, last, _ = slice(start, end, step).indices(size)
    if (start, end) == (first, max(first, last)):
        return NotImplemented
    return _aten.slice_scatter(x, src, dim, first, max(first, last), step)


def _of_view(op: Any) -> Any:
    return lambda *args, **kwargs: op(*args, **kwargs).clone()


for _name in ("expand", "permute", "squeeze", "t", "transpose", "unsqueeze", "view", "narrow"):
    for _overload in ("default", "int", "dim"):
        _op = getattr(getattr(_aten, f"{_name}_copy"), _overload, None)
        _view = getattr(getattr(_aten, _name), _overload, None)
        if _op is not None and _view is not None:
            decomposes(_op)(_of_view(_view))


@decomposes(_aten.unbind_copy.int)
def unbind_copy(x: Tensor, dim: int = 0) -> list[Tensor]:
    """All slices along a dimension."""
    return [x.select(dim, each).clone() for each in range(x.shape[dim])]


@decomposes(_aten._pdist_forward.default)
def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """Distances in the p-norm of each pair of rows."""
    pairs = torch.triu_indices(x.shape[0], x.shape[0], 1)
    apart = cdist(x, x, p, None)
    return apart.reshape(-1).index_select(0, pairs[0] * x.shape[0] + pairs[1])
