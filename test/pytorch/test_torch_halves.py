"""bf16 and f16, which PyTorch computes in f32 and rounds once: bit for bit as eager."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import check

F = torch.nn.functional
NUMBER, WIDE = torch.tensor(0.07), torch.tensor(0.07, dtype=torch.float64)
OPS: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "numbers": lambda x, y: (x * 0.07, 0.07 * x, x / 0.07, 0.07 / x, x + 0.07, x - 0.07, 0.07 - x),
    "whole numbers": lambda x, y: (x * 1001, x / 1001, x + 1001, x * 3, x * 0.5),
    "factors": lambda x, y: (
        *(torch.add(x, y, alpha=0.07), torch.sub(x, y, alpha=0.07), x.add(y, alpha=2)),
        *(torch.add(x, 3, alpha=0.07), torch.rsub(x, y, alpha=0.3), torch.lerp(x, y, 0.07)),
        *(torch.addcmul(x, x, y, value=0.07), torch.addcdiv(x, x, y, value=0.07)),
    ),
    "tensors of a number": lambda x, y: (
        *(x * NUMBER, x / NUMBER, x + NUMBER, x - NUMBER, NUMBER - x, NUMBER * x, NUMBER / x),
        x * WIDE,
    ),
    "rounded quotients": lambda x, y: [
        torch.div(x, each, rounding_mode=mode) for each in (0.07, y) for mode in ("floor", "trunc")
    ],
    "bounds": lambda x, y: (x < 0.07, x.clamp(-0.07, 0.07), torch.where(x > 0, x, 0.07)),
    "powers": lambda x, y: (x.abs() ** 0.7, 0.7**x, torch.remainder(x, 0.07)),
    "activations": lambda x, y: (
        *(F.leaky_relu(x, 0.07), F.elu(x, 0.7), F.celu(x, 0.7), F.softplus(x, 0.7)),
        *(F.hardtanh(x, -0.07, 0.07), F.threshold(x, 0.07, 0.3), F.silu(x)),
        *(F.hardshrink(x, 0.07), F.softshrink(x, 0.07), F.softshrink(x)),
    ),
    "norms": lambda x, y: (
        *(F.rms_norm(x, (16,), eps=1e-3), F.rms_norm(x, (16,), y[0])),
        *(F.rms_norm(x, (16, 16), y), x.mean(-1)),
    ),
    "products": lambda x, y: (
        *(torch.addmm(x, x, y), torch.addmm(x, x, y, beta=0.07, alpha=0.3), F.linear(x, y, x[0])),
        *(torch.addmv(x[0], x, y[0]), torch.baddbmm(x[None], x[None], y[None], beta=0.5)),
    ),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", OPS)
def test_rounded_once(name: str, dtype: torch.dtype) -> None:
    random = torch.Generator().manual_seed(0)
    x, y = (torch.randn(16, 16, generator=random).to(dtype) for _ in range(2))
    if name == "products":  # sums of whole numbers are the same in any order
        x, y = (x * 4).round(), (y * 4).round()
    check(OPS[name], x, y)


def test_floats_are_bounded_as_they_are() -> None:
    x = torch.tensor([0.3, -0.3, 0.05, -0.0, 2.0, float("inf"), float("nan")])
    check(lambda x: (F.softshrink(x, 0.07), F.softshrink(x), F.rms_norm(x[:5], (5,))), x)
