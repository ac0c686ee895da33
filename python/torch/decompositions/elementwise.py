"""Elementwise functions that torch-mlir lacks or lowers wrongly."""

from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.decompositions.special import broadcast
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@writes(_aten.fmod.Tensor)
def fmod(body: Body) -> None:
    """The remainder of truncated division: it has the sign of the dividend."""
    left, right = broadcast(body)
    body.give(body.let(f"stablehlo.remainder {left}, {right} : {body.outputs[0]}"))


@decomposes(_aten.fmod.Scalar)
def fmod_scalar(x: Tensor, other: Any) -> Tensor:
    """`fmod` of a number."""
    return torch.fmod(x, _like(x, other))


@decomposes(_aten.remainder.Tensor)
def remainder(x: Tensor, other: Tensor) -> Tensor:
    """The remainder of floored division: it has the sign of the divisor."""
    left = torch.fmod(x, other)
    return torch.where((left != 0) & ((left < 0) != (other < 0)), left + other, left)


@decomposes(_aten.remainder.Scalar)
def remainder_scalar(x: Tensor, other: Any) -> Tensor:
    """`remainder` of a number."""
    return remainder(x, _like(x, other))


@decomposes(_aten.remainder.Scalar_Tensor)
def scalar_remainder(x: Any, other: Tensor) -> Tensor:
    """`remainder` of a number by a tensor."""
    return remainder(_like(other, x), other)


def _like(x: Tensor, number: Any) -> Tensor:
    dtype = torch.result_type(x, number)
    return torch.full((), number, dtype=dtype)


@writes(
    _aten.bitwise_left_shift.Tensor,
    _aten.bitwise_left_shift.Tensor_Scalar,
    _aten.__lshift__.Tensor,
    _aten.__lshift__.Scalar,
)
def left_shift(body: Body) -> None:
    """A left shift; zero from the width of the type on."""
    _shift(body, "left")


@writes(
    _aten.bitwise_right_shift.Tensor,
    _aten.bitwise_right_shift.Tensor_Scalar,
    _aten.__rshift__.Tensor,
    _aten.__rshift__.Scalar,
)
def right_shift(body: Body) -> None:
    """A right shift: arithmetic, or logical in unsigned types."""
    is_unsigned = str(body.outputs[0].element_type).startswith("ui")
    _shift(body, f"right_{'logical' if is_unsigned else 'arithmetic'}")


def _shift(body: Body, direction: str) -> None:
    values = broadcast(body)
    if len(values) == 1:
        values.append(body.constant(body.argument("other", 1), body.outputs[0]))
    body.give(body.let(f"stablehlo.shift_{direction} {', '.join(values)} : {body.outputs[0]}"))


@writes(_aten.complex.default)
def complex_of(body: Body) -> None:
    """A complex number of its parts."""
    (real, imaginary), (target,) = body.inputs, body.outputs
    values = [
        f"%arg{i}"
        if each.shape == target.shape
        else body.let(
            f"stablehlo.broadcast_in_dim %arg{i},"
            f" dims = {[*range(target.rank - each.rank, target.rank)]} : ({each}) ->"
            f" {like(target, str(each.element_type))}"
        )
        for i, each in enumerate((real, imaginary))
    ]
    part = like(target, str(real.element_type))
    text = f"stablehlo.complex {', '.join(values)} : ({part}, {part}) -> {target}"
    body.give(body.let(text))


def like(type_: Any, element: str) -> str:
    """The type of a tensor of `element` of the shape of `type_`."""
    return f"tensor<{'x'.join([*map(str, type_.shape), element])}>"


@decomposes(_aten.gelu.default)
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """`x` times the normal CDF, or its tanh approximation, in f32."""
    wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
    if approximate == "tanh":
        inner = 0.7978845608028654 * (wide + 0.044715 * wide * wide * wide)
        return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)
    return (wide * 0.5 * (1 + torch.erf(wide * 0.7071067811865476))).to(x.dtype)


@decomposes(_aten.logsumexp.default)
def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """`log(sum(exp(x)))`, also where the largest is infinite."""
    dims = [dim] if isinstance(dim, int) else list(dim) or list(range(x.dim()))
    if not x.is_floating_point():
        x = x.float()
    if x.numel() == 0:
        return torch.log(torch.exp(x).sum(dims, keepdim))
    if x.dim() == 0:
        return x.clone()
    largest = x.amax(dims, True)
    largest = torch.where(largest.abs() == float("inf"), 0.0, largest)
    total = torch.log(torch.exp(x - largest).sum(dims, True)) + largest
    return total if keepdim else total.squeeze(dims)


@decomposes(_aten.native_dropout.default)
def native_dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Each element is kept with probability 1 - p; of none kept, zeros."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return x * 0.0, torch.zeros_like(x, dtype=torch.bool)
    kept = torch.rand_like(x, dtype=torch.float32) >= p
    return torch.where(kept, x, 0.0 * x) * (1 / (1 - p)), kept


@decomposes(getattr(torch.ops.prims, "fma", None) and torch.ops.prims.fma.default)
def fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """`a * b + c`, as eager's kernels of f32 compute it: what asks for it are sums of products."""
    return a * b + c
