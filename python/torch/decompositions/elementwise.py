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


def widened(x: Tensor) -> Tensor:
    """`x` in f32 where it is of bf16 or f16, which PyTorch computes in f32."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


@decomposes(_aten.gelu.default)
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """`x` times the normal CDF, or its tanh approximation, in f32."""
    wide = widened(x)
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


@decomposes(_aten.hypot.default)
def hypot(x: Tensor, y: Tensor) -> Tensor:
    """The length of a hypotenuse: infinite where a side is, even if the other is NaN."""
    dtype = torch.result_type(x, y)
    if dtype == torch.float64:
        x, y = torch.broadcast_tensors(x.double().abs(), y.double().abs())
        long, short = torch.maximum(x, y), torch.minimum(x, y)
        ratio = torch.where(long == 0, 0.0, short / long)
        length = long * torch.sqrt(1 + ratio * ratio)
    else:  # squares of f32 are exact in f64, and within its range
        x, y = x.double(), y.double()
        length = torch.sqrt(x * x + y * y).to(dtype)
    return torch.where(x.isinf() | y.isinf(), torch.inf, length)


@decomposes(_aten.fmax.default)
def fmax(x: Tensor, y: Tensor) -> Tensor:
    """The larger one, or the one that is a number."""
    return _number_of(torch.maximum(x, y), x, y)


@decomposes(_aten.fmin.default)
def fmin(x: Tensor, y: Tensor) -> Tensor:
    """The smaller one, or the one that is a number."""
    return _number_of(torch.minimum(x, y), x, y)


def _number_of(chosen: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if not chosen.is_floating_point():
        return chosen
    return torch.where(x.isnan(), y, torch.where(y.isnan(), x, chosen))


@decomposes(_aten.isclose.default)
def isclose(
    x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether numbers are equal, or differ by no more than is allowed."""
    close = x == y
    if equal_nan and x.is_floating_point():
        close = close | (x.isnan() & y.isnan())
    if rtol == 0 and atol == 0:
        return close
    if not x.is_floating_point() and not x.is_complex():
        x, y = x.to(torch.get_default_dtype()), y.to(torch.get_default_dtype())
    apart, allowed = (x - y).abs(), atol + (rtol * y).abs()
    return close | (apart.isfinite() & (apart <= allowed))


@decomposes(_aten.eq.Tensor)
def equal(x: Tensor, y: Tensor) -> Tensor | Any:
    """Of floats, as torch-mlir takes what is one value for equal: NaN is not."""
    if not torch.result_type(x, y).is_floating_point:
        return NotImplemented
    return torch.logical_not(torch.ne(x, y))


@decomposes(_aten.isinf.default)
def isinf(x: Tensor) -> Tensor | Any:
    """No whole number is infinite."""
    if x.is_floating_point() or x.is_complex():
        return NotImplemented
    return torch.zeros_like(x, dtype=torch.bool)


@decomposes(_aten.pow.Tensor_Scalar)
def power(x: Tensor, exponent: Any) -> Tensor | Any:
    """The roots that eager takes for powers of a half."""
    if not x.is_floating_point() or exponent not in (0.5, -0.5):
        return NotImplemented
    return torch.sqrt(x) if exponent > 0 else torch.rsqrt(x)


@decomposes(_aten.div.Tensor_mode)
def divide(x: Tensor, y: Any, *, rounding_mode: str | None = None) -> Tensor | Any:
    """Floored division of floats as `c10::div_floor_floating`.

    bf16 and f16 by a number in f32, by a tensor rounded in each step.
    """
    dtype = torch.result_type(x, y)
    if not dtype.is_floating_point or rounding_mode is None:
        return NotImplemented
    is_number = not isinstance(y, Tensor) or (y.dim() == 0 and x.dim() > 0)
    wide = torch.float32 if is_number and dtype.itemsize < 4 else dtype
    if rounding_mode == "trunc":
        if wide == dtype:
            return NotImplemented
        return torch.trunc(x.to(wide) / (y.to(wide) if isinstance(y, Tensor) else y)).to(dtype)
    y = y if isinstance(y, Tensor) else torch.full((), y, dtype=wide)
    x, y = torch.broadcast_tensors(x.to(wide), y.to(wide))
    rest = torch.fmod(x, y)
    quotient = (x - rest) / y
    quotient = torch.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    whole = torch.floor(quotient)
    whole = torch.where(quotient - whole > 0.5, whole + 1, whole)
    whole = torch.where(quotient == 0, torch.copysign(torch.zeros_like(x), x / y), whole)
    return torch.where(y == 0, x / y, whole).to(dtype)


def _with_number(op: Any) -> Any:
    """`op` of a tensor and a number, as one of tensors."""

    def decomposition(x: Tensor, y: Any) -> Tensor:
        return op(x, torch.full((), y, dtype=torch.result_type(x, y)))

    return decomposition


for _op in (_aten.bitwise_and, _aten.bitwise_or, _aten.bitwise_xor):
    decomposes(_op.Scalar)(_with_number(_op.Tensor))
