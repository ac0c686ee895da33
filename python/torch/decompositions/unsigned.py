"""uint16, uint32 and uint64, and constants and casts of other types that torch-mlir lacks."""

import torch
from torch import Tensor
from torch.fx import Node

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten, _prims = torch.ops.aten, torch.ops.prims
_UNSIGNED = {torch.uint16, torch.uint32, torch.uint64}
_CAST = {*_UNSIGNED, torch.complex64, torch.complex128}


def _dtype(node: Node) -> torch.dtype | None:
    value = node.meta.get("val")
    return value.dtype if isinstance(value, Tensor) else None


@writes(
    _prims.convert_element_type.default,
    _aten._to_copy.default,
    when=lambda node: _dtype(node) in _CAST,
)
def cast(body: Body) -> None:
    """A cast to these: floats go by way of i64, as x86's casts of C++ do, so they wrap around."""
    (source,), (target,) = body.inputs, body.outputs
    element = str(target.element_type)
    is_float = str(source.element_type).startswith(("f", "bf"))
    if not is_float or not element.startswith("ui"):
        body.give(_converted(body, "%arg0", str(source), str(target)))
        return
    signed = like(target, "i64")
    whole = _converted(body, "%arg0", str(source), signed)
    narrow = _converted(body, whole, signed, str(target))
    if element == "ui64":  # i64 has not the upper half
        bools = like(target, "i1")
        half = body.constant(f"{2.0**63:e}", source)
        types = f"({source}, {source}) -> {bools}"
        is_upper = body.let(f"stablehlo.compare GE, %arg0, {half}, FLOAT : {types}")
        direct = _converted(body, "%arg0", str(source), str(target))
        text = f"stablehlo.select {is_upper}, {direct}, {narrow} : {bools}, {target}"
        narrow = body.let(text)
    body.give(narrow)


def _converted(body: Body, value: str, source: str, target: str) -> str:
    if source == target:
        return value
    return body.let(f"stablehlo.convert {value} : ({source}) -> {target}")


@writes(_aten.full_like.default, when=lambda node: _dtype(node) in _UNSIGNED)
def full_like(body: Body) -> None:
    """A splat."""
    (target,) = body.outputs
    body.give(body.constant(int(str(body.argument("fill_value", 1))), target))


@writes(
    _aten.empty_like.default,
    _aten.empty.memory_format,
    when=lambda node: _dtype(node) in _UNSIGNED,
)
@writes(_aten.empty_strided.default, _aten.new_empty_strided.default)
def empty(body: Body) -> None:
    """Zeros: a tensor without values."""
    (target,) = body.outputs
    element = str(target.element_type)
    zero = "(0.0, 0.0)" if "complex" in element else "0"
    zero = "false" if element == "i1" else zero
    body.give(body.constant("0.0" if element.startswith(("f", "bf")) else zero, target))


@decomposes(_aten.roll.default)
def roll(x: Tensor, shifts: list[int], dims: list[int] = ()) -> Tensor:  # pyright: ignore
    """Elements moved along dimensions, or, without any, in their order in memory."""
    if not dims:
        return roll(x.reshape(-1), shifts, [0]).reshape(x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        size = x.shape[dim] if x.dim() else 0
        at = -shift % size if size else 0
        if at:
            x = torch.cat([x.narrow(dim, at, size - at), x.narrow(dim, 0, at)], dim)
    return x.clone()
