"""Programs that hold float8 themselves."""

from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.torch_programs.program import Made, Program, seeded

E4M3 = torch.float8_e4m3fn
LARGEST = 448.0


def _codes(x: Tensor, scale: Tensor) -> Tensor:
    return (x / scale).clamp(-LARGEST, LARGEST).to(E4M3)


class ScaledLinear(nn.Module):
    """A linear layer by `torch._scaled_mm`, with a scale per row."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        weight = torch.randn(outer, inner)
        scale = weight.abs().amax(1, keepdim=True) / LARGEST
        self.register_buffer("weight", _codes(weight, scale))
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """[n, inner] to [n, outer], of bf16."""
        scale = x.abs().amax(1, keepdim=True).float() / LARGEST
        codes = _codes(x.float(), scale)
        weight: Any = self.weight
        by_column: Any = self.scale
        return torch._scaled_mm(codes, weight.t(), scale, by_column.t(), out_dtype=torch.bfloat16)


class BlockLinear(nn.Module):
    """DeepSeek's: a weight of float8 with an inverse scale per block of 128 by 128."""

    def __init__(self, inner: int, outer: int, block: int) -> None:
        super().__init__()
        self.block = block
        self.register_buffer("weight", torch.randn(outer, inner).to(E4M3))
        shape = (outer // block, inner // block)
        self.register_buffer("weight_scale_inv", torch.rand(shape) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        """[n, inner] to [n, outer]."""
        scale: Any = self.weight_scale_inv
        weight: Any = self.weight
        spread = scale.repeat_interleave(self.block, 0).repeat_interleave(self.block, 1)
        return nn.functional.linear(x, weight.float() * spread)


def _scaled(is_tiny: bool) -> Made:
    inner, outer, rows = (32, 48, 16) if is_tiny else (2048, 8192, 64)
    return Made(ScaledLinear(inner, outer), {"x": torch.randn(rows, inner).bfloat16()})


def _blocks(is_tiny: bool) -> Made:
    inner, outer, block = (32, 48, 16) if is_tiny else (2048, 4096, 128)
    return Made(BlockLinear(inner, outer, block), {"x": torch.randn(64, inner)})


def _torchao(is_tiny: bool) -> Made:
    """Linear layers whose weights torchao keeps in float8."""
    from torchao.quantization import Float8WeightOnlyConfig, quantize_
    from torchao.utils import unwrap_tensor_subclass

    width = 32 if is_tiny else 1024
    model = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
    quantize_(model, Float8WeightOnlyConfig())
    return Made(unwrap_tensor_subclass(model), {"input": torch.randn(64, width)})


PROGRAMS = (
    Program("_scaled_mm, a scale per row", seeded(_scaled), tolerance=1e-3),
    Program("DeepSeek's linear, blocks of 128 x 128", seeded(_blocks)),
    Program("torchao's FP8 weights", seeded(_torchao), "torchao"),
)
