"""Complex numbers, of which torch-mlir knows a few ops."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.decompositions.scans import highest
from mlir_fp8.torch.decompositions.special import broadcast
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


def _of_complex(node: Node) -> bool:
    given = node.all_input_nodes
    value = given[0].meta.get("val") if given else None
    return isinstance(value, Tensor) and value.is_complex()


def part(body: Body, name: str, value: str = "%arg0") -> str:
    """The real or the imaginary part."""
    source = body.inputs[0]
    type_ = like(source, "f64" if "f64" in str(source) else "f32")
    return body.let(f"stablehlo.{name} {value} : ({source}) -> {type_}")


@writes(_aten._conj.default, _aten.conj_physical.default, _aten._conj_physical.default)
def conj(body: Body) -> None:
    """With the sign of the imaginary part turned."""
    (source,) = body.inputs
    if "complex" not in str(source):
        body.give("%arg0")
        return
    real, imaginary = part(body, "real"), part(body, "imag")
    type_ = like(source, "f64" if "f64" in str(source) else "f32")
    turned = body.let(f"stablehlo.negate {imaginary} : {type_}")
    body.give(body.let(f"stablehlo.complex {real}, {turned} : ({type_}, {type_}) -> {source}"))


@writes(_aten.abs.default, when=_of_complex)
def magnitude(body: Body) -> None:
    """The distance from zero: infinite where a part is, even if the other is NaN."""
    (source,), (target,) = body.inputs, body.outputs
    distance = body.let(f"stablehlo.abs %arg0 : ({source}) -> {target}")
    sizes = [body.let(f"stablehlo.abs {part(body, name)} : {target}") for name in ("real", "imag")]
    infinity = body.constant(highest(str(target.element_type)), target)
    bools = like(target, "i1")
    types = f"({target}, {target}) -> {bools}"
    first, second = (
        body.let(f"stablehlo.compare EQ, {each}, {infinity}, FLOAT : {types}") for each in sizes
    )
    is_infinite = body.let(f"stablehlo.or {first}, {second} : {bools}")
    text = f"stablehlo.select {is_infinite}, {infinity}, {distance} : {bools}, {target}"
    body.give(body.let(text))


@decomposes(_aten.angle.default)
def angle(x: Tensor) -> Tensor:
    """The angle of a number, which for real ones is 0 or pi."""
    if x.is_complex():
        return torch.atan2(torch.imag(x), torch.real(x))
    wide = x if x.is_floating_point() else x.float()
    result = torch.where(wide < 0, torch.pi, 0.0).to(wide.dtype)
    return torch.where(wide.isnan(), wide, result)


@decomposes(_aten.constant_pad_nd.default)
def pad(x: Tensor, pad: list[int], value: Any = 0) -> Tensor | Any:
    """Padding of a complex tensor, part by part."""
    if not x.is_complex():
        return NotImplemented
    number = complex(value)
    real = torch.constant_pad_nd(torch.real(x), pad, number.real)
    return torch.complex(real, torch.constant_pad_nd(torch.imag(x), pad, number.imag))


@decomposes(_aten.sum.dim_IntList)
def total(
    x: Tensor, dim: Any, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor | Any:
    """The sum of a complex tensor, part by part."""
    if not x.is_complex() or dtype is not None:
        return NotImplemented
    real = torch.real(x).sum(dim, keepdim)
    return torch.complex(real, torch.imag(x).sum(dim, keepdim))


_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}
_UNARY = {
    "neg": "negate",
    "exp": "exponential",
    "log": "log",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "sin": "sine",
    "cos": "cosine",
    "tanh": "tanh",
    "sgn": "sign",
}


def _gives_complex(node: Node) -> bool:
    value = node.meta.get("val")
    has_factor = node.kwargs.get("alpha", 1) != 1
    return isinstance(value, Tensor) and value.is_complex() and not has_factor


def _binary(op: str) -> Callable[[Body], None]:
    def write(body: Body) -> None:
        (target,) = body.outputs
        tensors = iter(broadcast(body))
        values: dict[Node, str] = {}
        names = []
        for given in body.function.node.args:
            if isinstance(given, Node):
                if given not in values:  # x * x has one operand
                    values[given] = next(tensors)
                names.append(values[given])
            else:
                number = complex(given)  # pyright: ignore[reportArgumentType]
                names.append(body.constant(f"({number.real:e}, {number.imag:e})", target))
        body.give(body.let(f"stablehlo.{op} {', '.join(names)} : {target}"))

    return write


def _unary(op: str) -> Callable[[Body], None]:
    def write(body: Body) -> None:
        body.give(body.let(f"stablehlo.{op} %arg0 : {body.outputs[0]}"))

    return write


for _name, _op in _BINARY.items():
    writes(getattr(_aten, _name).Tensor, when=_gives_complex)(_binary(_op))
for _name, _op in _UNARY.items():
    writes(getattr(_aten, _name).default, when=_gives_complex)(_unary(_op))


@writes(_aten.permute.default, when=_gives_complex)
def permute(body: Body) -> None:
    """Dimensions in another order."""
    rank = body.inputs[0].rank
    dims = [each % rank for each in body.argument("dims", 1)]
    types = f"({body.inputs[0]}) -> {body.outputs[0]}"
    body.give(body.let(f"stablehlo.transpose %arg0, dims = {dims} : {types}"))


@decomposes(_aten.mul.Scalar)
def times(x: Tensor, number: Any) -> Tensor | Any:
    """Times a complex number."""
    if not isinstance(number, complex):
        return NotImplemented
    return x * torch.full((), number, dtype=torch.result_type(x, number))


@decomposes(_aten._conj.default)
def conjugate_number(x: Tensor | complex) -> Tensor | Any:
    """Of a number, which traces of derivatives have."""
    if isinstance(x, Tensor):
        return NotImplemented
    return torch.full((), x.conjugate(), dtype=torch.complex128)


@decomposes(_aten.polar.default)
def polar(size: Tensor, angle: Tensor) -> Tensor:
    """The number of a magnitude and an angle."""
    return torch.complex(size * angle.cos(), size * angle.sin())
