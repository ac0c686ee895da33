"""Products by a weight in panels, as programs, and the weight packed by numpy."""

import math

import numpy as np

from mlir_fp8.lowering.kernels.vector_code.target import TARGETS

Size = tuple[int, int, int]
"""Rows, summands and columns."""


def panel_of(target: str, elements: tuple[str, str]) -> tuple[int, int]:
    """The columns of a panel, and the summands side by side, for the operands of a product."""
    tile = TARGETS[target]
    left, right = (
        "f8" if each.startswith("f8") and each != "f8E8M0FNU" else each for each in elements
    )
    takes = ("f8", "bf16") if tile.tiles else ("f8",)
    if tile.pair_dots and left in takes and right in takes:
        return (32, 2) if tile.tiles else (tile.columns, 2)
    return tile.columns, 1


def packed(weight: np.ndarray, width: int, unit: int) -> np.ndarray:
    """`weight`, k by n, in panels: columns by columns, zeros beyond the last one."""
    k, n = weight.shape
    whole = np.zeros((k, math.ceil(n / width) * width), weight.dtype)
    whole[:, :n] = weight
    return np.ascontiguousarray(whole.reshape(k // unit, unit, -1, width).transpose(2, 0, 3, 1))


def program(size: Size, panel: tuple[int, int], elements: tuple[str, str]) -> str:
    """`main(x, packed)`: the product in f32 of x by the weight that panels hold."""
    (m, k, n), (width, unit), (left, right) = size, panel, elements
    count, deep = math.ceil(n / width), k // unit
    panels = f"{count}x{deep}x{width}x{unit}x{right}"
    moved = f"{deep}x{unit}x{count}x{width}x{right}"
    whole = f"{k}x{count * width}x{right}"
    return f"""
func.func @main(%x: tensor<{m}x{k}x{left}>, %p: tensor<{panels}>) -> tensor<{m}x{n}xf32> {{
  %t = stablehlo.transpose %p, dims = [1, 3, 0, 2] : (tensor<{panels}>) -> tensor<{moved}>
  %r = stablehlo.reshape %t : (tensor<{moved}>) -> tensor<{whole}>
  %w = stablehlo.slice %r [0:{k}, 0:{n}] : (tensor<{whole}>) -> tensor<{k}x{n}x{right}>
  %a = stablehlo.convert %x : (tensor<{m}x{k}x{left}>) -> tensor<{m}x{k}xf32>
  %b = stablehlo.convert %w : (tensor<{k}x{n}x{right}>) -> tensor<{k}x{n}xf32>
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}"""
