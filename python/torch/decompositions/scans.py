"""Running products, maxima and sums of exponentials along a dimension."""

from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def _running(body: Body, value: str, type_: Any, dim: int, op: str, start: str) -> str:
    """`value` in windows that end at each element, reduced by `op`."""
    size = type_.shape[dim]
    if size == 0 or 0 in type_.shape:
        return value
    scalar = f"tensor<{type_.element_type}>"
    init = body.let(f"stablehlo.constant dense<{start}> : {scalar}")
    window = ", ".join(str(size if each == dim else 1) for each in range(type_.rank))
    padding = ", ".join(f"[{size - 1 if each == dim else 0}, 0]" for each in range(type_.rank))
    return body.let(
        f'"stablehlo.reduce_window"({value}, {init}) <{{window_dimensions = array<i64: {window}>,'
        f" padding = dense<[{padding}]> : tensor<{type_.rank}x2xi64>}}> ({{\n"
        f"^bb0(%a: {scalar}, %b: {scalar}):\n"
        f"%r = stablehlo.{op} %a, %b : {scalar}\n"
        f"stablehlo.return %r : {scalar}\n"
        f"}}) : ({type_}, {scalar}) -> {type_}"
    )


def _dim(body: Body, position: int = 1) -> int:
    dim = body.argument("dim", position)
    return dim % max(body.inputs[0].rank, 1)


@writes(_aten.cumprod.default)
def cumprod(body: Body) -> None:
    """The product of all elements up to each."""
    _give_running(body, "multiply", 1)


def _give_running(body: Body, op: str, start: int) -> None:
    """What `op`, from `start` on, makes of all elements up to each, in the type of the result."""
    (source,), (target,) = body.inputs, body.outputs
    value = "%arg0"
    if source != target:
        value = body.let(f"stablehlo.convert {value} : ({source}) -> {target}")
    if target.rank:
        is_float = str(target.element_type).startswith(("f", "bf"))
        complex_start = f"({start}.0, 0.0)" if "complex" in str(target) else str(start)
        first = f"{start}.0" if is_float else complex_start
        value = _running(body, value, target, _dim(body), op, first)
    body.give(value)


def lowest(element: str) -> str:
    """The smallest number of an MLIR type, minus infinity of floats, in MLIR's spelling."""
    if element.startswith(("f", "bf")):
        bits = {"f64": "0xFFF0000000000000", "f32": "0xFF800000"}
        return bits.get(element, "0xFC00" if element == "f16" else "0xFF80")
    if element == "i1":
        return "false"
    return "0" if element.startswith("ui") else str(-(2 ** (int(element[1:]) - 1)))


def highest(element: str) -> str:
    """The largest number of an MLIR type, infinity of floats, in MLIR's spelling."""
    if element.startswith(("f", "bf")):
        bits = {"f64": "0x7FF0000000000000", "f32": "0x7F800000"}
        return bits.get(element, "0x7C00" if element == "f16" else "0x7F80")
    if element == "i1":
        return "true"
    width = int(element.lstrip("ui"))
    return str(2**width - 1 if element.startswith("ui") else 2 ** (width - 1) - 1)


def _extreme(body: Body, op: str, start: str) -> None:
    values, places = body.outputs
    if values.rank == 0:
        body.give("%arg0", body.constant(0, places))
        return
    dim = _dim(body)
    running = _running(body, "%arg0", values, dim, op, start)
    bools = like(values, "i1")
    kind = "FLOAT" if str(values.element_type).startswith(("f", "bf")) else "SIGNED"
    if str(values.element_type).startswith(("ui", "i1")) and str(values.element_type) != "i16":
        kind = "UNSIGNED"
    types = f"({values}, {values}) -> {bools}"
    found = body.let(f"stablehlo.compare EQ, %arg0, {running}, {kind} : {types}")
    if kind == "FLOAT":
        nan = body.let(f"stablehlo.compare NE, %arg0, %arg0, FLOAT : {types}")
        found = body.let(f"stablehlo.or {found}, {nan} : {bools}")
    iota = body.let(f"stablehlo.iota dim = {dim} : {places}")
    none = body.constant(0, places)
    place = body.let(f"stablehlo.select {found}, {iota}, {none} : {bools}, {places}")
    body.give(running, _running(body, place, places, dim, "maximum", "0"))


@writes(_aten.cummax.default)
def cummax(body: Body) -> None:
    """The largest up to each element, and the last place that has it."""
    _extreme(body, "maximum", lowest(str(body.outputs[0].element_type)))


@writes(_aten.cummin.default)
def cummin(body: Body) -> None:
    """The smallest up to each element, and the last place that has it."""
    _extreme(body, "minimum", highest(str(body.outputs[0].element_type)))


@decomposes(_aten.logcumsumexp.default)
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """`log(cumsum(exp(x)))`, of numbers less the largest of the whole dimension up to each."""
    if x.dim() == 0 or x.numel() == 0:
        return x.clone()
    dim %= x.dim()
    size = x.shape[dim]
    moved = x.movedim(dim, -1)
    upto = torch.arange(size).unsqueeze(0) <= torch.arange(size).unsqueeze(1)
    rows = torch.where(upto, moved.unsqueeze(-2), float("-inf"))
    return torch.logsumexp(rows, -1).movedim(-1, dim)


@writes(_aten.cumsum.default)
def cumsum(body: Body) -> None:
    """The sum of all elements up to each."""
    _give_running(body, "add", 0)
