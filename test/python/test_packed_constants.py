"""Constant weights: compiled into the module in the panels that kernels read."""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.passes.pass_pipeline import run_pipeline

RNG = np.random.default_rng(61)
DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
K, N = 64, 200


def program(rows: int, element: str, weight: np.ndarray, sides: str) -> str:
    """Rows of x times the weight, k by n, and by itself transposed where `sides` says both."""
    held = np.ascontiguousarray(weight.T if sides == "nk" else weight)
    shape = f"{held.shape[0]}x{held.shape[1]}x{element}"
    summed = 1 if sides == "nk" else 0
    first = f"""
  %w = stablehlo.constant dense<"0x{held.tobytes().hex().upper()}"> : tensor<{shape}>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [{summed}]
    : (tensor<{rows}x{K}x{element}>, tensor<{shape}>) -> tensor<{rows}x{N}xf32>"""
    results = f"tensor<{rows}x{N}xf32>"
    if sides != "both":
        return f"""func.func @main(%x: tensor<{rows}x{K}x{element}>) -> {results} {{{first}
  return %y : {results} }}"""
    return f"""
func.func @main(%x: tensor<{rows}x{K}x{element}>, %z: tensor<{rows}x{N}x{element}>)
    -> ({results}, tensor<{rows}x{K}xf32>) {{{first}
  %b = stablehlo.dot_general %z, %w, contracting_dims = [1] x [1]
    : (tensor<{rows}x{N}x{element}>, tensor<{shape}>) -> tensor<{rows}x{K}xf32>
  return %y, %b : {results}, tensor<{rows}x{K}xf32>
}}"""


def globals_of(text: str, target: str) -> list[str]:
    held = mlir_fp8.load(text)
    kernels = pipelines.to_kernels(saturate=False, threads=1, kernels=target)
    run_pipeline(held, [*pipelines.to_linalg(), *kernels])
    main = str(held).partition("func.func @main")[2].partition("\n  }")[0]
    assert "alloc" not in main
    return re.findall(r"memref\.global .*? : memref<(\S+)>", str(held))


@pytest.mark.parametrize("sides", ["kn", "nk", "both"])
@pytest.mark.parametrize("element", DTYPES)
def test_products_are_exact(element: str, sides: str) -> None:
    dtype = DTYPES[element]
    weight = RNG.integers(-3, 4, (K, N)).astype(dtype)
    wide = weight.astype(np.float32)
    for rows in (1, 40):
        x = RNG.integers(-3, 4, (rows, K)).astype(dtype)
        given = [x]
        want = [x.astype(np.float32) @ wide]
        if sides == "both":
            z = RNG.integers(-3, 4, (rows, N)).astype(dtype)
            given.append(z)
            want.append(z.astype(np.float32) @ wide.T)
        text = program(rows, element, weight, sides)
        for threads in (1, 2):
            for got, each in zip(
                mlir_fp8.compile(text, threads=threads)(*given), want, strict=True
            ):
                np.testing.assert_array_equal(got, each)


def test_the_constant_is_replaced() -> None:
    """One array is left, in panels; for few rows, which read it in place, it stays as it is."""
    weight = RNG.integers(-3, 4, (K, N)).astype(np.float32)
    for sides in ("kn", "nk"):
        assert globals_of(program(40, "f32", weight, sides), "avx2") == ["13x64x16xf32"]
    assert globals_of(program(1, "f32", weight, "nk"), "avx2") == ["200x64xf32"]
    # The other product sums 200, no multiple of 32.
    both = globals_of(program(40, "f32", weight, "both"), "avx2")
    assert both == ["13x64x16xf32", "64x200xf32"]
    codes = weight.astype(ml_dtypes.float8_e4m3fn)
    of_codes = program(40, "f8E4M3FN", codes, "kn")
    assert globals_of(of_codes, "avx2") == ["13x64x16xi8"]
    assert globals_of(of_codes, "amx-bf16") == ["7x32x32x2xi8"]


def test_what_is_no_whole_matrix_stays() -> None:
    """A slice of a constant, and one number that fills it."""
    weight = RNG.integers(-3, 4, (K, N)).astype(np.float32)
    data = weight.tobytes().hex().upper()
    text = f"""
func.func @main(%x: tensor<20x32xf32>, %z: tensor<20x{K}xf32>)
    -> (tensor<20x{N}xf32>, tensor<20x{N}xf32>) {{
  %w = stablehlo.constant dense<"0x{data}"> : tensor<{K}x{N}xf32>
  %s = stablehlo.slice %w [16:48, 0:{N}] : (tensor<{K}x{N}xf32>) -> tensor<32x{N}xf32>
  %y = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0]
    : (tensor<20x32xf32>, tensor<32x{N}xf32>) -> tensor<20x{N}xf32>
  %t = stablehlo.constant dense<2.0> : tensor<{K}x{N}xf32>
  %u = stablehlo.dot_general %z, %t, contracting_dims = [1] x [0]
    : (tensor<20x{K}xf32>, tensor<{K}x{N}xf32>) -> tensor<20x{N}xf32>
  return %y, %u : tensor<20x{N}xf32>, tensor<20x{N}xf32>
}}"""
    x = RNG.integers(-3, 4, (20, 32)).astype(np.float32)
    z = RNG.integers(-3, 4, (20, K)).astype(np.float32)
    y, u = mlir_fp8.compile(text)(x, z)
    np.testing.assert_array_equal(y, x @ weight[16:48])
    np.testing.assert_array_equal(u, z @ np.full((K, N), 2, np.float32))
