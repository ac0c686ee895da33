"""Functions of one or two numbers, each an op of CHLO."""

from collections.abc import Callable

import torch

from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten
_UNARY = {
    _aten.erf.default: "erf",
    _aten.erfc.default: "erfc",
    _aten.erfinv.default: "erf_inv",
    _aten.lgamma.default: "lgamma",
    _aten.sinh.default: "sinh",
    _aten.cosh.default: "cosh",
    _aten.asinh.default: "asinh",
    _aten.acosh.default: "acosh",
    _aten.atanh.default: "atanh",
    _aten.special_i1e.default: "bessel_i1e",
}
_BINARY = {
    _aten.nextafter.default: "next_after",
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


@writes(_aten.digamma.default)
def digamma(body: Body) -> None:
    """Minus infinity at 0, infinity at -0, as eager has it; CHLO has NaN there."""
    (source,), (target,) = body.inputs, body.outputs
    value = "%arg0"
    if source != target:
        value = body.let(f"stablehlo.convert {value} : ({source}) -> {target}")
    made = body.let(f"chlo.digamma {value} : {target} -> {target}")
    bools = f"tensor<{'x'.join([*map(str, target.shape), 'i1'])}>"
    zero, minus = body.constant("0.0", target), body.constant("-1.0", target)
    types = f"({target}, {target}) -> {bools}"
    is_zero = body.let(f"stablehlo.compare EQ, {value}, {zero}, FLOAT : {types}")
    pole = body.let(f"stablehlo.divide {minus}, {value} : {target}")
    body.give(body.let(f"stablehlo.select {is_zero}, {pole}, {made} : {bools}, {target}"))
