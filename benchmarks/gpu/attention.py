"""Attention of f8 codes with a scale for each head, as the `fp8` dialect has it."""

from collections.abc import Mapping
from typing import Any


def codes_text(batch: int, tokens: int, heads: int, depth: int) -> str:
    """The module: causal, P of f8, a bf16 result."""
    data = f"tensor<{batch}x{heads}x{tokens}x{depth}xf8E4M3FN>"
    scale = f"tensor<{batch}x{heads}x1x1xf32>"
    result = f"tensor<{batch}x{heads}x{tokens}x{depth}xbf16>"
    types = [data] * 3 + [scale] * 3
    names = [f"%{index}" for index in range(6)]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    attributes = (
        "causal, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>, "
        "p_type = f8E4M3FN, p_saturate, p_inverse, p_scale = 448.0 : f32, "
        f"p_factor = {1 / 448:e} : f32, scale = {depth**-0.5:e} : f32"
    )
    return (
        f"func.func @main({arguments}) -> {result} {{\n"
        f'  %y = "fp8.attention"({", ".join(names)}) {{{attributes}}} : '
        f"({', '.join(types)}) -> {result}\n  return %y : {result}\n}}\n"
    )


def codes_arguments(batch: int, tokens: int, heads: int, depth: int) -> list[Mapping[str, Any]]:
    shape, scales = [batch, heads, tokens, depth], [batch, heads, 1, 1]
    codes: Mapping[str, Any] = {
        "shape": shape, "dtype": "f8e4m3fn", "kind": "codes", "std": 64.0
    }  # fmt: skip
    scale: Mapping[str, Any] = {
        "shape": scales, "dtype": "f32", "kind": "uniform", "low": 0.5 / 64, "high": 1.5 / 64
    }  # fmt: skip
    return [*[codes] * 3, *[scale] * 3]
