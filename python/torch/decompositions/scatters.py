"""Scatters that reduce."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.decompositions.sorting import coordinates
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten
_OPS = {
    "sum": "add",
    "add": "add",
    "prod": "multiply",
    "multiply": "multiply",
    "amax": "maximum",
    "amin": "minimum",
}


@decomposes(_aten.scatter_reduce.two)
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """The mean is a sum, over how many there are."""
    if x.dim() == 0:
        args = x.reshape(1), 0, index.reshape(1), src.reshape(1), reduce
        return _aten.scatter_reduce.two(*args, include_self=include_self).reshape(())
    src = src[tuple(slice(0, size) for size in index.shape)]
    if reduce != "mean":
        if tuple(src.shape) == tuple(index.shape) and include_self:
            return NotImplemented
        if include_self:
            return _aten.scatter_reduce.two(x, dim, index, src, reduce)
        hit = torch.zeros_like(x, dtype=torch.int32).scatter_add(
            dim, index, torch.ones_like(index, dtype=torch.int32)
        )
        start = torch.where(hit > 0, _identity(reduce, x.dtype), x)
        return _aten.scatter_reduce.two(start, dim, index, src, reduce)
    count = torch.zeros_like(x, dtype=torch.int64) + int(include_self)
    count = count.scatter_add(dim, index, torch.ones_like(index)).clamp(min=1)
    total = scatter_reduce_sum(x, dim, index, src, include_self=include_self)
    if x.is_floating_point():
        return total / count.to(x.dtype)
    return torch.div(total, count.to(x.dtype), rounding_mode="floor")


def scatter_reduce_sum(
    x: Tensor, dim: int, index: Tensor, src: Tensor, *, include_self: bool
) -> Tensor:
    """The sum of all updates of each element, with or without its old value."""
    return _aten.scatter_reduce.two(x, dim, index, src, "sum", include_self=include_self)


def _identity(reduce: str, dtype: torch.dtype) -> Tensor:
    if reduce in ("sum", "prod"):
        return torch.full((), 0 if reduce == "sum" else 1, dtype=dtype)
    is_max = reduce == "amax"
    if dtype.is_floating_point:
        return torch.full((), float("-inf" if is_max else "inf"), dtype=dtype)
    limits = torch.iinfo(dtype)
    return torch.full((), limits.min if is_max else limits.max, dtype=dtype)


@writes(_aten.scatter_reduce.two, _aten.scatter.reduce)
def scatter(body: Body) -> None:
    """`x[index[i, j], j]` reduced with `src[i, j]`."""
    (target,) = body.outputs
    dim, name = body.argument("dim", 1), body.argument("reduce", 4)
    assert isinstance(dim, int)
    rank = target.rank
    index, updates = body.inputs[1], body.inputs[2]
    places = coordinates(body, "%arg1", index, dim % rank)
    full = f"tensor<{'x'.join([*map(str, index.shape), str(rank), 'i64'])}>"
    scalar = f"tensor<{target.element_type}>"
    dims = [*range(rank)]
    text = (
        f'"stablehlo.scatter"(%arg0, {places}, %arg2) <{{scatter_dimension_numbers ='
        f" #stablehlo.scatter<inserted_window_dims = {dims},"
        f" scatter_dims_to_operand_dims = {dims}, index_vector_dim = {rank}>}}> ({{\n"
        f"^bb0(%a: {scalar}, %b: {scalar}):\n"
        f"%r = stablehlo.{_OPS[str(name)]} %a, %b : {scalar}\n"
        f"stablehlo.return %r : {scalar}\n"
        f"}}) : ({target}, {full}, {updates}) -> {target}"
    )
    body.give(body.let(text))


@decomposes(_aten.as_strided_scatter.default)
def as_strided_scatter(
    x: Tensor,
    source: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """`x`, which lies in memory in order, with `source` in the place of a view of that memory."""
    places = torch.full((), storage_offset or 0, dtype=torch.int64)
    for count, step in zip(size, stride, strict=True):
        places = places.unsqueeze(-1) + torch.arange(count) * step
    flat = x.reshape(-1).index_put((places.reshape(-1),), source.reshape(-1))
    return flat.reshape(x.shape)


@decomposes(_aten.index_reduce.default)
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """`scatter_reduce` of whole slices."""
    if x.dim() == 0:
        args = x.reshape(1), 0, index.reshape(-1), source.reshape(-1), reduce
        return index_reduce(*args, include_self=include_self).reshape(())
    along = [-1 if each == dim % x.dim() else 1 for each in range(x.dim())]
    places = index.reshape(along).expand(source.shape)
    return _aten.scatter_reduce.two(x, dim, places, source, reduce, include_self=include_self)


@decomposes(_aten.put.default)
def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements written to, or added at, places in the order of memory."""
    flat = x.reshape(-1)
    places = index.reshape(-1)
    places = torch.where(places < 0, places + flat.shape[0], places)
    values = source.reshape(-1)
    made = flat.scatter_add(0, places, values) if accumulate else flat.scatter(0, places, values)
    return made.reshape(x.shape)


@decomposes(_aten.diagonal_scatter.default)
def diagonal_scatter(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """`x` with `source` in the place of a diagonal."""
    planes = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = planes.shape[-2:]
    step = torch.arange(rows).unsqueeze(1)
    on = torch.arange(columns) == step + offset
    # The element of row i is number i of the diagonal, less the rows above it.
    place = (step.squeeze(1) - max(-offset, 0)).clamp(0, max(source.shape[-1] - 1, 0))
    if source.shape[-1] == 0:
        return x.clone()
    spread = source.index_select(-1, place).unsqueeze(-1)
    return torch.where(on, spread, planes).movedim((-2, -1), (dim1, dim2))
