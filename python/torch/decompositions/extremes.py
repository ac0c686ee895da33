"""Places of extremes: NaN is the largest and the smallest number, as in PyTorch."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.decompositions.scans import highest, lowest
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def taken(element: str, order: str, *, nan: str) -> str:
    """Lines that say in `%wins` whether `%b` at `%j` is taken of it and `%a` at `%i`.

    That is if it is before in `order` (GT, LT), or equal at a lower place; NaN is before all
    numbers, and before NaN at a place that is lower, or higher, as `nan` says (LT, GE).
    """
    boolean = "tensor<i1>"
    is_float = "f" in element
    kind = "FLOAT" if is_float else "UNSIGNED" if element.startswith("u") else "SIGNED"

    def compared(name: str, how: str, first: str, second: str) -> str:
        type_, sort = (f"tensor<{element}>", kind) if first in "ab" else ("tensor<i64>", "SIGNED")
        told = f"%{first}, %{second}, {sort} : ({type_}, {type_}) -> {boolean}"
        return f"%{name} = stablehlo.compare {how}, {told}\n"

    def joined(name: str, op: str, first: str, second: str) -> str:
        return f"%{name} = stablehlo.{op} %{first}, %{second} : {boolean}\n"

    numbers = "of_numbers" if is_float else "wins"
    text = (
        compared("before", order, "b", "a")
        + compared("equal", "EQ", "b", "a")
        + compared("lower", "LT", "j", "i")
        + joined("first", "and", "equal", "lower")
        + joined(numbers, "or", "before", "first")
    )
    if not is_float:
        return text
    return (
        text
        + compared("nan", "NE", "b", "b")
        + compared("number", "EQ", "a", "a")
        + compared("there", nan, "j", "i")
        + joined("or_nan", "or", "number", "there")
        + joined("of_nan", "and", "nan", "or_nan")
        + joined("wins", "or", "of_numbers", "of_nan")
    )


@writes(_aten.argmax.default)
def argmax(body: Body) -> None:
    """The place of the largest along a dimension, or of all."""
    _give_place(body, "GT")


@writes(_aten.argmin.default)
def argmin(body: Body) -> None:
    """The place of the smallest."""
    _give_place(body, "LT")


def _give_place(body: Body, order: str) -> None:
    (source,), (target,) = body.inputs, body.outputs
    dim, element = body.argument("dim", 1), str(source.element_type)
    value, shape = "%arg0", list(source.shape)
    if dim is None or not shape:
        shape, dim = [math.prod(shape)], 0
        value = body.let(f"stablehlo.reshape %arg0 : ({source}) -> {_type(shape, element)}")
    dim %= len(shape)
    scalar, given = f"tensor<{element}>", _type(shape, element)
    places = body.let(f"stablehlo.iota dim = {dim} : {_type(shape, 'i64')}")
    start = body.constant((lowest if order == "GT" else highest)(element), scalar)
    beyond = body.constant(shape[dim], "tensor<i64>")
    left = shape[:dim] + shape[dim + 1 :]
    found = body.let(
        f'"stablehlo.reduce"({value}, {places}, {start}, {beyond})'
        f" <{{dimensions = array<i64: {dim}>}}> ({{\n"
        f"^bb0(%a: {scalar}, %i: tensor<i64>, %b: {scalar}, %j: tensor<i64>):\n"
        + taken(element, order, nan="LT")
        + f"%v = stablehlo.select %wins, %b, %a : tensor<i1>, {scalar}\n"
        "%p = stablehlo.select %wins, %j, %i : tensor<i1>, tensor<i64>\n"
        f"stablehlo.return %v, %p : {scalar}, tensor<i64>\n"
        f"}}) : ({given}, {_type(shape, 'i64')}, {scalar}, tensor<i64>)"
        f" -> ({_type(left, element)}, {_type(left, 'i64')})",
        results=2,
    )
    body.give(body.let(f"stablehlo.reshape {found}#1 : ({_type(left, 'i64')}) -> {target}"))


def _type(shape: list[int], element: str) -> str:
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def _along(op: Any) -> Callable[..., Any]:
    def decomposition(x: Tensor, dim: int, keepdim: bool = False) -> Any:
        """Of a tensor without dimensions itself; of booleans as numbers."""
        if x.dim() == 0:
            return x.clone(), torch.zeros((), dtype=torch.int64)
        if x.dtype != torch.bool:
            return NotImplemented
        values, places = op(x.to(torch.int8), dim, keepdim)
        return values.to(torch.bool), places

    return decomposition


def _of_booleans(op: Any) -> Callable[..., Any]:
    def decomposition(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        if x.dtype != torch.bool:
            return NotImplemented
        return op(x.to(torch.int8), *args, **kwargs).to(torch.bool)

    return decomposition


for _op in (_aten.max, _aten.min):
    decomposes(_op.dim)(_along(_op.dim))
    decomposes(_op.default)(_of_booleans(_op.default))
for _op in (_aten.amax, _aten.amin):
    decomposes(_op.default)(_of_booleans(_op.default))
decomposes(_aten.clamp_max.Tensor)(torch.minimum)
decomposes(_aten.clamp_min.Tensor)(torch.maximum)


@decomposes(_aten.take.default)
def take(x: Tensor, index: Tensor) -> Tensor:
    """Elements by their places among all; negative ones count from the end."""
    index = torch.where(index < 0, index + x.numel(), index)
    return x.reshape(-1).index_select(0, index.reshape(-1)).reshape(index.shape)
