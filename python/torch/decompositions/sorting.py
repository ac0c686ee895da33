"""Sorting and what follows from it; NaN is the largest number, as in PyTorch."""

from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@decomposes(_aten.sort.default)
def sort(x: Tensor, dim: int = -1, descending: bool = False) -> Any:
    """The stable sort, which PyTorch's other one may be."""
    return _aten.sort.stable(x, stable=True, dim=dim, descending=descending)


@writes(_aten.sort.stable)
def stable_sort(body: Body) -> None:
    """Sorted values and where they were."""
    values, places = body.outputs
    node = body.function.node
    dim = node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", -1)
    descending = node.args[3] if len(node.args) > 3 else node.kwargs.get("descending", False)
    if values.rank == 0:
        body.give("%arg0", body.constant(0, places))
        return
    assert isinstance(dim, int)
    dim %= values.rank
    iota = body.let(f"stablehlo.iota dim = {dim} : {places}")
    element = str(values.element_type)
    scalar, index, boolean = f"tensor<{element}>", "tensor<i64>", "tensor<i1>"
    first, second = ("%b", "%a") if descending else ("%a", "%b")
    lines = [_compare("%less", "LT", first, second, scalar, element)]
    result = "%less"
    if element.startswith(("f", "bf")):
        lines += [
            _compare("%second_nan", "NE", second, second, scalar, element),
            _compare("%first_number", "EQ", first, first, scalar, element),
            f"%nan_last = stablehlo.and %second_nan, %first_number : {boolean}",
            f"%before = stablehlo.or %less, %nan_last : {boolean}",
        ]
        result = "%before"
    text = (
        f'"stablehlo.sort"(%arg0, {iota}) <{{dimension = {dim} : i64, is_stable = true}}> ({{\n'
        f"^bb0(%a: {scalar}, %b: {scalar}, %i: {index}, %j: {index}):\n"
        + "\n".join(lines)
        + f"\nstablehlo.return {result} : {boolean}\n"
        f"}}) : ({values}, {places}) -> ({values}, {places})"
    )
    sorted_ = body.let(text, results=2)
    body.give(f"{sorted_}#0", f"{sorted_}#1")


def _compare(name: str, direction: str, left: str, right: str, type_: str, element: str) -> str:
    kind = "UNSIGNED" if element.startswith(("ui", "i1")) and element != "i16" else "SIGNED"
    kind = kind if element.startswith(("i", "u")) else "FLOAT"
    types = f"({type_}, {type_}) -> tensor<i1>"
    return f"{name} = stablehlo.compare {direction}, {left}, {right}, {kind} : {types}"


@decomposes(_aten.kthvalue.default)
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th smallest along a dimension."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = _aten.sort.stable(x, stable=True, dim=dim)
    values, places = (each.narrow(dim, k - 1, 1) for each in (values, places))
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


@decomposes(_aten.median.dim)
def median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the two in the middle; NaN where there is one."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = _aten.sort.stable(x, stable=True, dim=dim)
    last = x.shape[dim] - 1
    value, place = (each.narrow(dim, last // 2, 1) for each in (values, places))
    if x.is_floating_point():
        is_nan = values.narrow(dim, last, 1).isnan()
        first_nan = x.isnan().to(torch.int8).argmax(dim, True)
        value = torch.where(is_nan, float("nan"), value)
        place = torch.where(is_nan, first_nan, place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


@decomposes(_aten.median.default)
def median_of_all(x: Tensor) -> Tensor:
    """The median of all elements, NaN of none."""
    if x.numel() == 0 and x.is_floating_point():
        return x.new_full((), float("nan"))
    return median(x.reshape(-1), 0)[0]


@decomposes(_aten.nanmedian.dim)
def nanmedian(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The median of the numbers; NaN where there is none."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = _aten.sort.stable(x, stable=True, dim=dim)
    numbers = torch.logical_not(values.isnan()).sum(dim, True)
    middle = ((numbers - 1).clamp(min=0)) // 2
    value, place = values.gather(dim, middle), places.gather(dim, middle)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


@decomposes(_aten.nanmedian.default)
def nanmedian_of_all(x: Tensor) -> Tensor:
    """The median of all numbers, NaN of none."""
    if x.numel() == 0 and x.is_floating_point():
        return x.new_full((), float("nan"))
    return nanmedian(x.reshape(-1), 0)[0]


@writes(_aten.gather.default)
def gather(body: Body) -> None:
    """`y[i, j] = x[index[i, j], j]` along a dimension."""
    (source, index), (target,) = body.inputs, body.outputs
    if target.rank == 0:
        body.give("%arg0")
        return
    dim = body.function.node.args[1]
    assert isinstance(dim, int)
    places = coordinates(body, "%arg1", index, dim % target.rank)
    rank = target.rank
    full = f"tensor<{'x'.join([*map(str, index.shape), str(rank), 'i64'])}>"
    text = (
        f'"stablehlo.gather"(%arg0, {places}) <{{dimension_numbers = #stablehlo.gather<'
        f"collapsed_slice_dims = {[*range(rank)]}, start_index_map = {[*range(rank)]},"
        f" index_vector_dim = {rank}>, indices_are_sorted = false,"
        f" slice_sizes = array<i64: {', '.join(['1'] * rank)}>}}> :"
        f" ({source}, {full}) -> {target}"
    )
    body.give(body.let(text))


def coordinates(body: Body, index: str, type_: Any, dim: int) -> str:
    """Places of all elements of `index`: their own, but for `index` along `dim`."""
    shape = [*map(str, type_.shape)]
    wide, one = like(type_, "i64"), f"tensor<{'x'.join([*shape, '1', 'i64'])}>"
    if str(type_) != wide:
        index = body.let(f"stablehlo.convert {index} : ({type_}) -> {wide}")
    parts = []
    for each in range(type_.rank):
        value = index if each == dim else body.let(f"stablehlo.iota dim = {each} : {wide}")
        parts.append(body.let(f"stablehlo.reshape {value} : ({wide}) -> {one}"))
    full = f"tensor<{'x'.join([*shape, str(type_.rank), 'i64'])}>"
    types = ", ".join([one] * type_.rank)
    text = f"stablehlo.concatenate {', '.join(parts)}, dim = {type_.rank} : ({types}) -> {full}"
    return body.let(text)
