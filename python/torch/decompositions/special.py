"""Functions of one or two numbers, each an op of CHLO."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten
_UNARY = {
    _aten.erf.default: "erf",
    _aten.erfc.default: "erfc",
    _aten.erfinv.default: "erf_inv",
    _aten.lgamma.default: "lgamma",
    _aten.digamma.default: "digamma",
    _aten.sinh.default: "sinh",
    _aten.cosh.default: "cosh",
    _aten.asinh.default: "asinh",
    _aten.acosh.default: "acosh",
    _aten.atanh.default: "atanh",
    _aten.special_i1e.default: "bessel_i1e",
}
_BINARY = {
    _aten.nextafter.default: "next_after",
    _aten.special_zeta.default: "zeta",
}


def _unary(name: str) -> Callable[[Body], None]:
    def write(body: Body) -> None:
        (source,), (target,) = body.inputs, body.outputs
        value = "%arg0"
        if source != target:  # integers become floats
            value = body.let(f"stablehlo.convert {value} : ({source}) -> {target}")
        body.give(body.let(f"chlo.{name} {value} : {target} -> {target}"))

    return write


def _binary(name: str) -> Callable[[Body], None]:
    def write(body: Body) -> None:
        (target,) = body.outputs
        values = broadcast(body)
        types = f"{target}, {target} -> {target}"
        body.give(body.let(f"chlo.{name} {', '.join(values)} : {types}"))

    return write


def broadcast(body: Body) -> list[str]:
    """The arguments as tensors of the result's type."""
    (target,) = body.outputs
    values = []
    for index, source in enumerate(body.inputs):
        value = f"%arg{index}"
        like = f"tensor<{'x'.join([*map(str, source.shape), ''])}{target.element_type}>"
        if str(source) != like:
            value = body.let(f"stablehlo.convert {value} : ({source}) -> {like}")
        if source.shape != target.shape:
            dims = [*range(target.rank - source.rank, target.rank)]
            text = f"stablehlo.broadcast_in_dim {value}, dims = {dims} : ({like}) -> {target}"
            value = body.let(text)
        values.append(value)
    return values


for _op, _name in _UNARY.items():
    writes(_op)(_unary(_name))
for _op, _name in _BINARY.items():
    writes(_op)(_binary(_name))


@writes(_aten.polygamma.default)
def polygamma(body: Body) -> None:
    """The derivative of digamma of the order that the node holds."""
    (source,), (target,) = body.inputs, body.outputs
    order = body.constant(f"{float(body.argument('n', 0)):e}", target)
    value = "%arg0"
    if source != target:
        value = body.let(f"stablehlo.convert {value} : ({source}) -> {target}")
    zero, one = body.constant("0.0", target), body.constant("1.0", target)
    bools = f"tensor<{'x'.join([*map(str, target.shape), 'i1'])}>"
    types = f"({target}, {target}) -> {bools}"
    is_negative = body.let(f"stablehlo.compare LT, {value}, {zero}, FLOAT : {types}")
    mirrored = body.let(f"stablehlo.subtract {one}, {value} : {target}")
    given = body.let(f"stablehlo.select {is_negative}, {mirrored}, {value} : {bools}, {target}")
    made = body.let(f"chlo.polygamma {order}, {given} : {target}, {target} -> {target}")
    below = _reflected(body, value, made) if body.argument("n", 0) == 1 else _no_number(body)
    text = f"stablehlo.select {is_negative}, {below}, {made} : {bools}, {target}"
    body.give(body.let(text))


def _no_number(body: Body) -> str:
    """NaN: below 0, the series of CHLO has too few terms."""
    (target,) = body.outputs
    zero = body.constant("0.0", target)
    return body.let(f"stablehlo.divide {zero}, {zero} : {target}")


def _reflected(body: Body, value: str, mirrored: str) -> str:
    """`(pi / sin(pi x))^2 - trigamma(1 - x)`."""
    (target,) = body.outputs
    floor = body.let(f"stablehlo.floor {value} : {target}")
    left = body.let(f"stablehlo.subtract {value}, {floor} : {target}")
    one, pi = body.constant("1.0", target), body.constant(f"{math.pi:.17e}", target)
    right = body.let(f"stablehlo.subtract {one}, {left} : {target}")
    near = body.let(f"stablehlo.minimum {left}, {right} : {target}")
    angle = body.let(f"stablehlo.multiply {near}, {pi} : {target}")
    sine = body.let(f"stablehlo.sine {angle} : {target}")
    ratio = body.let(f"stablehlo.divide {pi}, {sine} : {target}")
    square = body.let(f"stablehlo.multiply {ratio}, {ratio} : {target}")
    return body.let(f"stablehlo.subtract {square}, {mirrored} : {target}")


@decomposes(_aten.polygamma.default)
def derivative_of_digamma(n: int, x: Tensor) -> Tensor | Any:
    """Digamma itself, of order 0."""
    return torch.digamma(x) if n == 0 else NotImplemented
