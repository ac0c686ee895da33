"""Dots of quantized bytes against sums of Python's integers, which are scaled in f32."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.passes.pass_pipeline import run_pipeline

SCALES = (0.1, 0.37, 2.5, 0.003, 1.0)


def _type(shape: str, storage: str, scales: tuple[float, ...], zero: int, axis: int | None) -> str:
    pairs = [f"{each}:{zero}" for each in scales]
    kind = f"f32, {pairs[0]}" if axis is None else f"f32:{axis}, {{{', '.join(pairs)}}}"
    return f"tensor<{shape}x!quant.uniform<{storage.replace('ui', 'u')}:{kind}>>"


def _random(shape: tuple[int, ...], storage: str, seed: int) -> np.ndarray:
    dtype = element_dtype(storage)
    info = ml_dtypes.iinfo(dtype)
    generator = np.random.default_rng(seed)
    numbers = generator.integers(int(info.min), int(info.max) + 1, shape)
    ends = generator.choice([int(info.min), int(info.max)], shape)
    return np.where(generator.random(shape) < 0.3, ends, numbers).astype(dtype)


def _stored(total: np.ndarray, scales: tuple[float, ...], out: float) -> np.ndarray:
    """As i8 with zero point -5."""
    products = [np.float32(np.float64(np.float32(0.1)) * np.float32(each)) for each in scales]
    numbers = total.astype(np.float32) * np.array(products, np.float32) / np.float32(out)
    return np.round(np.clip(numbers + np.float32(-5), -128, 127)).astype(np.int8)


@pytest.mark.parametrize("per_axis", [False, True])
@pytest.mark.parametrize(
    ("storage", "zero"),
    [
        *(("i8", zero) for zero in (0, 3, -128, 127)),
        *(("ui8", zero) for zero in (0, 128, 255, 7)),
        *(("i4", zero) for zero in (0, -8)),
        ("ui4", 15),
    ],
)
@pytest.mark.parametrize("sizes", [(3, 40), (33, 70)])
def test_sums_are_exact(storage: str, zero: int, per_axis: bool, sizes: tuple[int, int]) -> None:
    (m, k), n = sizes, len(SCALES)
    scales = SCALES if per_axis else SCALES[:1]
    left = _type(f"{m}x{k}", storage, (0.1,), zero, None)
    right = _type(f"{k}x{n}", storage, scales, 0, 1 if per_axis else None)
    result = _type(f"{m}x{n}", "i8", (40.0,), -5, None)
    # A result per tensor of operands per axis is what the specification refuses.
    if per_axis:
        result = _type(f"{m}x{n}", "i8", (40.0,) * n, -5, 1)
    text = f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : ({left}, {right}) -> {result}
      return %r : {result} }}"""
    a, b = _random((m, k), storage, 1), _random((k, n), storage, 2)
    total = (a.astype(np.int64) - zero) @ b.astype(np.int64)
    (got,) = mlir_fp8.compile(text)(a, b)
    np.testing.assert_array_equal(got, _stored(total, scales, 40.0))


def test_dimensions_in_any_order() -> None:
    """Two batches, two dimensions summed, and scales along a free one of the right operand."""
    left = _type("2x4x3x5x6", "i8", (0.1,), 3, None)
    right = _type("5x6x7x4x2", "i8", SCALES[:1] * 7, 0, 2)
    result = _type("2x4x3x7", "i8", (40.0,) * 7, -5, 3)
    text = f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %r = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [4, 3],
        contracting_dims = [3, 4] x [0, 1] : ({left}, {right}) -> {result}
      return %r : {result} }}"""
    a, b = _random((2, 4, 3, 5, 6), "i8", 3), _random((5, 6, 7, 4, 2), "i8", 4)
    total = np.einsum("abmkl,klnba->abmn", a.astype(np.int64) - 3, b.astype(np.int64))
    (got,) = mlir_fp8.compile(text)(a, b)
    np.testing.assert_array_equal(got, _stored(total, SCALES[:1] * 7, 40.0))


@pytest.mark.parametrize(
    ("depth", "expressed", "scale", "is_integer"),
    [
        (65793, "f32", "0.5", True),  # 255 times 128: i32 holds so many
        (65794, "f32", "0.5", False),
        (64, "f16", "0.5", False),
        (64, "f32", "1.0e-30", False),  # whose square is no normal number of f32
    ],
)
def test_what_is_a_dot_of_integers(
    depth: int, expressed: str, scale: str, is_integer: bool
) -> None:
    q = f"!quant.uniform<i8:{expressed}, {scale}:127>"
    weight = f"!quant.uniform<i8:{expressed}, {scale}>"
    types = f"(tensor<2x{depth}x{q}>, tensor<{depth}x3x{weight}>) -> tensor<2x3x{q}>"
    text = f"""func.func @main(%a: tensor<2x{depth}x{q}>, %b: tensor<{depth}x3x{weight}>)
        -> tensor<2x3x{q}> {{
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : {types}
      return %r : tensor<2x3x{q}> }}"""
    module = copy_of(mlir_fp8.load(text))
    run_pipeline(module, ["stablehlo-legalize-quantized-ops"])
    assert ("-> tensor<2x3xi32>" in str(module)) == is_integer


@pytest.mark.parametrize("axis", [None, 1])
def test_a_sum_is_stored_as_it_is(axis: int | None) -> None:
    """Beyond what f32 holds, where the result's scale is the product of the operands'."""
    scales = SCALES[:1] if axis is None else SCALES
    left = _type("3x4000", "i8", (0.1,), 0, None)
    right = _type("4000x5", "i8", scales, 0, axis)
    products = tuple(float(np.float32(0.1) * np.float32(each)) for each in scales)
    result = _type("3x5", "i32", products, 0, axis)
    text = f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : ({left}, {right}) -> {result}
      return %r : {result} }}"""
    a = np.full((3, 4000), 127, np.int8)
    a[:, 0] = [1, 2, 3]
    b = np.full((4000, 5), 127, np.int8)
    (got,) = mlir_fp8.compile(text)(a, b)
    np.testing.assert_array_equal(got, a.astype(np.int64) @ b.astype(np.int64))


def test_the_largest_sum() -> None:
    left, right = (
        f"tensor<{shape}x!quant.uniform<i8:f32, 1.0{zero}>>"
        for shape, zero in (("1x65793", ":127"), ("65793x1", ""))
    )
    result = "tensor<1x1x!quant.uniform<i32:f32, 1.0>>"
    text = f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : ({left}, {right}) -> {result}
      return %r : {result} }}"""
    least = np.full((1, 65793), -128, np.int8)
    (got,) = mlir_fp8.compile(text)(least, least.T)
    assert got == 255 * 128 * 65793
