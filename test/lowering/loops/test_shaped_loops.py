"""Reductions, transposes and row-wise programs of many shapes, beside numpy in f64.

Their loops depend on the shapes: chunks of 64 and 16 lanes, masked tails, tiles, fused rows.
"""

import numpy as np
import pytest
from float_cases import compile_ops, tensor

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec

SIZES = (15, 16, 17, 63, 64, 100, 127, 128, 149, 200, 1024)
REDUCE = """func.func @main(%x: tensor<{shape}x{type}>) -> tensor<{kept}x{type}> {{
  %zero = stablehlo.constant dense<{init}> : tensor<{type}>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.{op} across dimensions = [{dim}]
    : (tensor<{shape}x{type}>, tensor<{type}>) -> tensor<{kept}x{type}>
  return %0 : tensor<{kept}x{type}>
}}"""
SOFTMAX = """func.func @main(%x: tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xf32> {{
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<{0}x{1}xf32>, tensor<f32>) -> tensor<{0}xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<{0}xf32>) -> tensor<{0}x{1}xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<{0}x{1}xf32>
  %3 = stablehlo.exponential %2 : tensor<{0}x{1}xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<{0}x{1}xf32>, tensor<f32>) -> tensor<{0}xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<{0}xf32>) -> tensor<{0}x{1}xf32>
  %6 = stablehlo.divide %3, %5 : tensor<{0}x{1}xf32>
  return %6 : tensor<{0}x{1}xf32>
}}"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("type_", ["f32", "f64", "bf16", "f8E4M3FN"])
def test_integers_are_summed_exactly(type_: str, dim: int, exhaustive: bool) -> None:
    """Whatever the order: all partial sums are numbers of f32, and the sum one of the type."""
    rng = np.random.default_rng(0)
    for size in SIZES if exhaustive else SIZES[::2]:
        shape = (size, 3) if dim == 0 else (3, size)
        dtype = TensorSpec(shape, type_).dtype
        values = rng.integers(-1, 2, shape)
        # Small sums: the numbers come in pairs that cancel, but for at most one.
        values -= np.flip(values, dim)
        values = np.sign(values) + (np.arange(size) == size // 2).reshape(
            (-1, 1) if dim == 0 else (1, -1)
        )
        text = REDUCE.format(
            shape="x".join(map(str, shape)), kept=3, type=type_, init="0.0", op="add", dim=dim
        )
        (got,) = mlir_fp8.compile(text, threads=1)(values.astype(dtype))
        expected = values.sum(dim)
        assert np.array_equal(got.astype(np.float64), expected), size


def test_what_a_sum_meets_is_kept() -> None:
    """NaN and infinities in every lane; a sum of negative zeros with a -0.0 init is -0.0."""
    text = REDUCE.format(shape="3x149", kept=3, type="f32", init="-0.0", op="add", dim=1)
    module = mlir_fp8.compile(text, threads=1)
    for place in (0, 63, 64, 127, 128, 143, 144, 148):
        values = np.full((3, 149), -0.0, np.float32)
        values[1, place], values[2, place] = np.nan, -np.inf
        (got,) = module(values)
        assert got[0] == 0 and np.signbit(got[0])
        assert np.isnan(got[1]) and got[2] == -np.inf


def test_products() -> None:
    text = REDUCE.format(shape="3x149", kept=3, type="f32", init="1.0", op="multiply", dim=1)
    values = np.random.default_rng(0).choice(np.array([0.5, 2.0, -1.0], np.float32), (3, 149))
    (got,) = mlir_fp8.compile(text, threads=1)(values)
    assert np.array_equal(got, values.astype(np.float64).prod(1))


@pytest.mark.parametrize("shape", [(1, 5), (2, 16), (7, 100), (32, 149)])
def test_softmax_does_not_depend_on_threads(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    text = SOFTMAX.format(*shape)
    (got,) = mlir_fp8.compile(text, threads=1)(x)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-6)
    (shared,) = mlir_fp8.compile(text, threads=2)(x)
    assert shared.tobytes() == got.tobytes()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("type_", ["f32", "f64", "bf16", "f8E4M3FN", "i8"])
def test_transposes(type_: str) -> None:
    arrays: list[np.ndarray] = []
    ops: list[tuple[str, str]] = []
    wanted: list[np.ndarray] = []
    for rows, columns in ((16, 48), (64, 128), (33, 64)):
        for order in ((1, 0), (2, 1, 0), (0, 2, 1), (1, 2, 0)):
            shape = (rows, columns) if len(order) == 2 else (rows, 3, columns)
            x = np.random.default_rng(0).integers(0, 5, shape).astype(TensorSpec((), type_).dtype)
            turned = np.ascontiguousarray(x.transpose(order))
            a, b = tensor(x.shape, type_), tensor(turned.shape, type_)
            text = f"stablehlo.transpose %{len(ops)}, dims = {list(order)} : ({a}) -> {b}"
            arrays.append(x)
            ops.append((text, b))
            wanted.append(turned)
    results = compile_ops([tensor(x.shape, type_) for x in arrays], ops)(*arrays)
    for got, turned in zip(results, wanted, strict=True):
        assert got.tobytes() == turned.tobytes()
