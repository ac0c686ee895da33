"""NVFP4 has a number for each index of a batch, and for each expert, so that none hides another."""

from typing import Any

import numpy as np
import pytest
from block_format_reference import wide

import mlir_fp8
from mlir_fp8 import NVFP4Scaling
from mlir_fp8.dialects.float_formats import FORMATS

RECIPE = NVFP4Scaling()
SIZES = np.array([20, 7, 0, 13], np.int32)


def tensors(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Normally distributed numbers, 2^-16 times smaller with each index of the first dimension."""
    random = np.random.default_rng(3)
    sizes = [
        np.exp2(-16.0 * np.arange(shape[0])).reshape(-1, *[1] * (len(shape) - 1))
        for shape in shapes
    ]
    return [
        (random.standard_normal(shape) * size).astype(np.float32)
        for shape, size in zip(shapes, sizes, strict=True)
    ]


def text_of(shapes: list[str], dims: str, result: str) -> str:
    a, b = (f"tensor<{each}xf32>" for each in shapes)
    return f"""func.func @main(%a: {a}, %b: {b}) -> tensor<{result}xf32> {{
  %0 = stablehlo.dot_general %a, %b, {dims} : ({a}, {b}) -> tensor<{result}xf32>
  return %0 : tensor<{result}xf32>
}}"""


BATCHED = {
    "rows": ("3x8x64", "3x16x64", "batching_dims = [0] x [0], contracting_dims = [2] x [2]"),
    "columns": ("3x8x64", "3x64x16", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    "two batches": (
        "3x2x8x64", "3x2x16x64", "batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]"
    ),
    "batch of the right last": (
        "3x8x64", "16x64x3", "batching_dims = [0] x [2], contracting_dims = [2] x [1]"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCHED.values(), ids=list(BATCHED))
def test_each_batch_has_its_own(case: tuple[str, str, str]) -> None:
    left, right, dims = case
    shapes = [tuple(map(int, each.split("x"))) for each in (left, right)]
    batches = [3, 2] if "[0, 1]" in dims else [3]
    result = "x".join(map(str, [*batches, 8, 16]))
    a, b = tensors(*(shape if shape[0] == 3 else (shape[-1], *shape[:-1]) for shape in shapes))
    given = b if shapes[1][0] == 3 else np.moveaxis(b, 0, -1).copy()
    made = mlir_fp8.quantize(text_of([left, right], dims, result), RECIPE)
    (found,) = mlir_fp8.compile(made.module)(a, given)
    columns = "[2] x [1]" in dims and shapes[1][0] == 3
    for index in np.ndindex(*batches):
        x, y = a[index], (b[index].T if columns else b[index])
        exact = wide(x, RECIPE) @ wide(y, RECIPE).T
        scale = np.linalg.norm(exact)
        assert scale > 0 and np.linalg.norm(found[index] - exact) < 1e-5 * scale


def ragged() -> str:
    return """func.func @main(%x: tensor<44x64xf32>, %w: tensor<4x64x32xf32>, %n: tensor<4xi32>)
    -> tensor<44x32xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
    : (tensor<44x64xf32>, tensor<4x64x32xf32>, tensor<4xi32>) -> tensor<44x32xf32>
  return %0 : tensor<44x32xf32>
}"""


def test_each_expert_has_its_own() -> None:
    random = np.random.default_rng(4)
    x = random.standard_normal((44, 64)).astype(np.float32)
    (w,) = tensors((4, 64, 32))
    (found,) = mlir_fp8.compile(mlir_fp8.quantize(ragged(), RECIPE).module)(x, w, SIZES)
    ends = np.cumsum(SIZES)
    rows = wide(x, RECIPE)
    for expert, (size, end) in enumerate(zip(SIZES, ends, strict=True)):
        exact = rows[end - size : end] @ wide(w[expert].T, RECIPE).T
        error = np.linalg.norm(found[end - size : end] - exact)
        assert error <= 1e-5 * np.linalg.norm(exact)
    assert not found[ends[-1] :].any()


def test_gradients_of_batches_are_not_lost() -> None:
    """Of a product and both its derivatives, forward and backward."""
    text = """
func.func @main(%x: tensor<3x16x32xf32>, %w: tensor<3x32x48xf32>, %g: tensor<3x16x48xf32>)
    -> (tensor<3x16x48xf32>, tensor<3x16x32xf32>, tensor<3x32x48xf32>) {
  %y = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x16x32xf32>, tensor<3x32x48xf32>) -> tensor<3x16x48xf32>
  %dx = stablehlo.dot_general %g, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2] {mlir_fp8.gradient = "lhs"} : (tensor<3x16x48xf32>, tensor<3x32x48xf32>) -> tensor<3x16x32xf32>
  %dw = stablehlo.dot_general %x, %g, batching_dims = [0] x [0], contracting_dims = [1] x [1] {mlir_fp8.gradient = "rhs"} : (tensor<3x16x32xf32>, tensor<3x16x48xf32>) -> tensor<3x32x48xf32>
  return %y, %dx, %dw : tensor<3x16x48xf32>, tensor<3x16x32xf32>, tensor<3x32x48xf32>
}"""  # noqa: E501
    x, w, g = tensors((3, 16, 32), (3, 32, 48), (3, 16, 48))
    turned: Any = [each.transpose(0, 2, 1).astype(np.float64) for each in (x, w)]
    exact = [x.astype(np.float64) @ w, g.astype(np.float64) @ turned[1], turned[0] @ g]
    for recipe in (RECIPE, NVFP4Scaling(stochastic_gradients=True), NVFP4Scaling(hadamard=16)):
        made = mlir_fp8.quantize(text, recipe)
        for found, want in zip(mlir_fp8.compile(made.module)(x, w, g), exact, strict=True):
            for got, each in zip(found.astype(np.float64), want, strict=True):
                assert np.linalg.norm(got - each) < 0.3 * np.linalg.norm(each)


@pytest.mark.parametrize("is_ragged", [True, False])
def test_prepared_experts_have_their_own(is_ragged: bool) -> None:
    random = np.random.default_rng(5)
    (w,) = tensors((4, 64, 32))
    if is_ragged:
        text, rest = ragged(), (random.standard_normal((44, 64)).astype(np.float32), SIZES)
    else:
        dims = "batching_dims = [0] x [0], contracting_dims = [2] x [1]"
        text = text_of(["4x8x64", "4x64x32"], dims, "4x8x32").replace("%b:", "%w:")
        text = text.replace("%a, %b", "%a, %w")
        rest = (random.standard_normal((4, 8, 64)).astype(np.float32),)
    text = text.replace("%w: tensor<4x64x32xf32>", '%w: tensor<4x64x32xf32> {mlir_fp8.name = "w"}')
    made = mlir_fp8.quantize(text, RECIPE, weights=["w"], wide=[])
    (weight,) = made.weights
    codes = 4 * 64 * 32 * FORMATS["f4E2M1FN"].storage_bits // 8
    assert weight.bytes_after == codes + 4 * 64 * 32 // 16 + 4 * 4
    prepared = made.prepare({"w": w})
    assert prepared["w_scale_2"].shape == (4, 1, 1)
    (found,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, *rest))
    (plain,) = mlir_fp8.compile(mlir_fp8.quantize(text, RECIPE).module)(*((rest[0], w, *rest[1:])))
    parts = np.split(found, np.cumsum(SIZES)) if is_ragged else found
    others = np.split(plain, np.cumsum(SIZES)) if is_ragged else plain
    for got, want in zip(parts, others, strict=True):
        error = np.linalg.norm(got.astype(np.float64) - want)
        assert error <= 0.15 * np.linalg.norm(want.astype(np.float64))
    trial = mlir_fp8.Trial(text, RECIPE, [list(rest)], {"w": w}, weights=["w"], wide=[])
    assert trial.sqnr(["w"]) > 15
