"""Weights of f8 with scales of blocks and groups: decoded and scaled where kernels pack them."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from kernel_products import compiled, targets

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.passes.pass_pipeline import run_pipeline

SIZES = [(1, 256, 512), (16, 200, 512), (8, 130, 256), (300, 64, 128), (3, 33, 96)]
GROUPS = [(32, 1), (64, 1), (128, 1), (128, 128), (24, 1), (4, 1), (32, 5), (0, 1), (0, 0)]
"""Elements along k and along n that have one scale; 0 is all of them."""
RNG = np.random.default_rng(3)


def program(m: int, n: int, k: int, group: tuple[int, int], *, transposed: bool) -> str:
    shape, sizes, summed = f"{k}x{n}", f"{k // group[0]}x{n // group[1]}", 0
    if transposed:
        shape, sizes, summed = f"{n}x{k}", f"{n // group[1]}x{k // group[0]}", 1
    return f"""
func.func @main(%x: tensor<{m}x{k}xf32>, %q: tensor<{shape}xf8E4M3FN>, %s: tensor<{sizes}xf32>)
    -> tensor<{m}x{n}xf32> {{
  %w = "fp8.dequantize"(%q, %s)
    : (tensor<{shape}xf8E4M3FN>, tensor<{sizes}xf32>) -> tensor<{shape}xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [{summed}]
    : (tensor<{m}x{k}xf32>, tensor<{shape}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}"""


def cases() -> list[tuple[tuple[int, int, int], tuple[int, int], bool]]:
    found = []
    for size, (of_k, of_n), transposed in itertools.product(SIZES, GROUPS, (False, True)):
        _, n, k = size
        group = of_k or k, of_n or n
        if k % group[0] == 0 and n % group[1] == 0:
            found.append((size, group, transposed))
    return found


def in_kernels(module: mlir_fp8.Quantized | str) -> str:
    """The entry after kernels are made: their calls, and what is left beside them."""
    held = mlir_fp8.load(module) if isinstance(module, str) else module.module
    kernels = pipelines.to_kernels(saturate=False, threads=1, kernels="avx2")
    run_pipeline(held, [*pipelines.to_linalg(), *kernels])
    return str(held).partition("func.func @main")[2].partition("\n  }")[0]


@pytest.mark.parametrize("target", targets())
def test_products_are_exact(target: str, exhaustive: bool) -> None:
    """Small integers and scales that are powers of two: every sum is exact in f32."""
    for (m, n, k), group, transposed in cases()[:: 1 if exhaustive else 4]:
        codes = RNG.integers(-8, 9, (k, n)).astype(ml_dtypes.float8_e4m3fn)
        scales = 2.0 ** RNG.integers(-2, 3, (k // group[0], n // group[1])).astype(np.float32)
        x = RNG.integers(-8, 9, (m, k)).astype(np.float32)
        want = x @ (codes.astype(np.float32) * scales.repeat(group[0], 0).repeat(group[1], 1))
        given = [codes, scales.astype(np.float32)]
        if transposed:
            given = [np.ascontiguousarray(each.T) for each in given]
        text = program(m, n, k, group, transposed=transposed)
        (got,) = compiled(text, target)(x, *given)
        np.testing.assert_array_equal(got, want, err_msg=f"{(m, n, k)} {group} {transposed}")


def test_no_wide_copy_is_made() -> None:
    for (m, n, k), group, transposed in cases():
        if m * n * k >= 8192:
            left = in_kernels(program(m, n, k, group, transposed=transposed))
            assert "alloc" not in left, (m, n, k, group, transposed)
            assert "linalg" not in left


@pytest.mark.parametrize("recipe", ["weight_only", "current"])
@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("layout", ["tensor", "channel", "block", "group32", "group128"])
def test_quantized_weights_have_no_wide_copy(layout: str, element: str, recipe: str) -> None:
    text = f"""
func.func @main(%x: tensor<16x256x{element}>, %w: tensor<128x256x{element}>)
    -> tensor<16x128x{element}> {{
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
    : (tensor<16x256x{element}>, tensor<128x256x{element}>) -> tensor<16x128x{element}>
  return %y : tensor<16x128x{element}>
}}"""
    left = in_kernels(mlir_fp8.quantize(text, recipe, weights=["arg1"], scales=layout))
    assert "call @" in left
    for wide in ("128x256xf32", "256x128xf32", "128x256xi16", "256x128xi16"):
        assert wide not in left
        assert f"2x128x128x{wide[-3:]}" not in left


def test_experts_and_elements_beyond_a_vector_of_one_group() -> None:
    """Groups along a batch dimension are none of the kernels': such products stay loops."""
    text = """
func.func @main(%x: tensor<4x8x64xf32>, %q: tensor<4x64x32xf8E4M3FN>, %s: tensor<2x2x32xf32>)
    -> tensor<4x8x32xf32> {
  %w = "fp8.dequantize"(%q, %s)
    : (tensor<4x64x32xf8E4M3FN>, tensor<2x2x32xf32>) -> tensor<4x64x32xf32>
  %y = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<4x8x64xf32>, tensor<4x64x32xf32>) -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}"""
    codes = RNG.integers(-8, 9, (4, 64, 32)).astype(ml_dtypes.float8_e4m3fn)
    scales = (2.0 ** RNG.integers(-2, 3, (2, 2, 32))).astype(np.float32)
    x = RNG.integers(-8, 9, (4, 8, 64)).astype(np.float32)
    spread = scales.repeat(2, 0).repeat(32, 1)
    (got,) = mlir_fp8.compile(text)(x, codes, scales)
    np.testing.assert_array_equal(got, x @ (codes.astype(np.float32) * spread))
