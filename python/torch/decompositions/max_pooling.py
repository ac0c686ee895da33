"""The largest of windows, and their places: NaN is the largest number, as in PyTorch."""

import math
from collections.abc import Sequence

import torch

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.extremes import taken
from mlir_fp8.torch.decompositions.pooling import ends_of, of_rank
from mlir_fp8.torch.decompositions.scans import lowest
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@writes(_aten.max_pool2d_with_indices.default)
def max_pool2d(body: Body) -> None:
    """Of each window of a plane the largest, and its place in the plane."""
    _give_largest(body, 2)


@writes(_aten.max_pool3d_with_indices.default)
def max_pool3d(body: Body) -> None:
    """As `max_pool2d`, of volumes."""
    _give_largest(body, 3)


def _give_largest(body: Body, rank: int) -> None:
    """One pass for the values alone, which is all where nothing asks for places."""
    (x,), (values, places) = body.inputs, body.outputs
    sizes, scalar = x.shape[-rank:], f"tensor<{x.element_type}>"
    options = _options(body, rank, sizes)
    first = body.constant(lowest(str(x.element_type)), scalar)
    largest = body.let(
        f'"stablehlo.reduce_window"(%arg0, {first}) {options} ({{\n'
        f"^bb0(%a: {scalar}, %b: {scalar}):\n"
        f"%m = stablehlo.maximum %a, %b : {scalar}\n"
        f"stablehlo.return %m : {scalar}\n"
        f"}}) : ({x}, {scalar}) -> {values}"
    )
    outside = body.constant(math.prod(sizes), "tensor<i64>")
    where = _places(body, sizes)
    both = body.let(
        f'"stablehlo.reduce_window"(%arg0, {where}, {first}, {outside}) {options} ({{\n'
        f"^bb0(%a: {scalar}, %i: tensor<i64>, %b: {scalar}, %j: tensor<i64>):\n"
        + taken(str(x.element_type), "GT", nan="GE")
        + f"%v = stablehlo.select %wins, %b, %a : tensor<i1>, {scalar}\n"
        "%p = stablehlo.select %wins, %j, %i : tensor<i1>, tensor<i64>\n"
        f"stablehlo.return %v, %p : {scalar}, tensor<i64>\n"
        f"}}) : ({x}, {like(x, 'i64')}, {scalar}, tensor<i64>) -> ({values}, {places})",
        results=2,
    )
    body.give(largest, f"{both}#1")


def _options(body: Body, rank: int, sizes: Sequence[int]) -> str:
    window, pads, steps, apart = (
        of_rank(body.argument(name, at, ()) or default, rank)
        for name, at, default in (
            ("kernel_size", 1, ()),
            ("padding", 3, (0,)),
            ("stride", 2, body.argument("kernel_size", 1)),
            ("dilation", 4, (1,)),
        )
    )
    beyond = body.argument("ceil_mode", 5, False)
    ends = ends_of(sizes, window, steps, pads, apart, ceil_mode=beyond)
    outer = body.inputs[0].rank - rank
    told = {"window_dimensions": window, "window_strides": steps, "window_dilations": apart}
    lists = [f"{name} = array<i64: {_row([1] * outer + given)}>" for name, given in told.items()]
    padding = [[0, 0]] * outer + [list(each) for each in zip(pads, ends, strict=True)]
    return f"<{{{', '.join(lists)}, padding = dense<{padding}> : tensor<{len(padding)}x2xi64>}}>"


def _row(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _places(body: Body, sizes: Sequence[int]) -> str:
    """The place in its plane or volume of each element."""
    x = body.inputs[0]
    flat = f"tensor<{math.prod(sizes)}xi64>"
    plane = f"tensor<{'x'.join(map(str, sizes))}xi64>"
    row = body.let(f"stablehlo.iota dim = 0 : {flat}")
    value = body.let(f"stablehlo.reshape {row} : ({flat}) -> {plane}")
    dims = _row(range(x.rank - len(sizes), x.rank))
    return body.let(
        f"stablehlo.broadcast_in_dim {value}, dims = [{dims}] : ({plane}) -> {like(x, 'i64')}"
    )
