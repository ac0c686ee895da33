"""The recipe `block`: which elements share a scale, its numbers, and kernels of its products."""

import re

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.passes.pass_pipeline import run_pipeline

E4 = ml_dtypes.float8_e4m3fn


def step(tokens: int = 256, inner: int = 384, outer: int = 128) -> str:
    """A layer y = x w on rows of tokens, and its derivatives, as JAX has them."""
    x, w, y = f"{tokens}x{inner}xf32", f"{inner}x{outer}xf32", f"{tokens}x{outer}xf32"
    return f"""
func.func @main(%x0: tensor<{x}>, %w: tensor<{w}>, %g0: tensor<{y}>)
    -> (tensor<{y}>, tensor<{x}>, tensor<{w}>) {{
  %x = stablehlo.tanh %x0 : tensor<{x}>
  %g = stablehlo.tanh %g0 : tensor<{y}>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{x}>, tensor<{w}>) -> tensor<{y}>
  %dx = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] {{mlir_fp8.gradient = "lhs"}} : (tensor<{y}>, tensor<{w}>) -> tensor<{x}>
  %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] {{mlir_fp8.gradient = "rhs"}} : (tensor<{x}>, tensor<{y}>) -> tensor<{w}>
  return %y, %dx, %dw : tensor<{y}>, tensor<{x}>, tensor<{w}>
}}"""  # noqa: E501


def scales_of(made: mlir_fp8.Quantized) -> list[tuple[str, str]]:
    """Of each product the shapes of both scales."""
    found = re.findall(r'"fp8.scaled_dot".* : \((.*)\) ->', str(made.module))
    types = [re.findall(r"tensor<([^>]*)xf32>", each) for each in found]
    return [(each[0], each[1]) for each in types]


def test_weights_have_squares_and_all_else_128_of_what_is_summed() -> None:
    made = mlir_fp8.quantize(step(outer=256), "block")
    assert scales_of(made) == [("256x3", "3x2"), ("256x2", "3x2"), ("2x384", "2x256")]
    assert str(made.module).count('"fp8.quantize"') == 5
    assert "f8E5M2" not in str(made.module)


def by_numpy(x: np.ndarray, rows: int, columns: int, *, power_of_two: bool = True) -> np.ndarray:
    """What the codes of `x` stand for: one scale, amax / 448, up to a power of two, per block."""
    parts = x.reshape(x.shape[0] // rows, rows, x.shape[1] // columns, columns)
    amax = np.abs(parts).max((1, 3), keepdims=True)
    scale = (amax / np.float32(448)).astype(np.float32)
    scale[scale == 0] = 1
    if power_of_two:
        scale = np.exp2(np.ceil(np.log2(scale)))
    codes = np.clip(parts / scale.astype(np.float32), -448, 448).astype(E4)
    return (codes.astype(np.float64) * scale.astype(np.float32)).reshape(x.shape)


@pytest.mark.parametrize("power_of_two", [True, False])
def test_values_are_those_of_the_formula(power_of_two: bool) -> None:
    random = np.random.default_rng(0)
    given = [
        (random.standard_normal(shape) * np.exp2(random.integers(-9, 9, shape))).astype(np.float32)
        for shape in ((256, 384), (384, 128), (256, 128))
    ]
    given[1][:128] = 0  # a square whose amax is 0
    recipe = mlir_fp8.BlockScaling(power_of_two=power_of_two)
    results = mlir_fp8.compile(mlir_fp8.quantize(step(), recipe).module)(*given)
    x, g = (np.tanh(each.astype(np.float64)).astype(np.float32) for each in (given[0], given[2]))

    def of(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
        return by_numpy(x, rows, columns, power_of_two=power_of_two)

    w = of(given[1], 128, 128)
    pairs = [(of(x, 1, 128), w), (of(g, 1, 128), w.T), (of(x, 128, 1).T, of(g, 128, 1))]
    for found, (a, b) in zip(results, pairs, strict=True):
        far = np.abs(np.asarray(found) - a @ b)
        # A tanh that is rounded the other way may be another code.
        assert np.mean(far <= 1e-5 * (np.abs(a) @ np.abs(b)) + 1e-30) > 0.98


def test_where_128_does_not_divide_all_that_is_summed_has_one_scale() -> None:
    made = mlir_fp8.quantize(step(tokens=100, inner=200, outer=384), "block")
    assert scales_of(made) == [("100x1", "1x3"), ("100x3", "1x3"), ("1x200", "1x384")]


def test_a_weight_is_the_operand_that_is_given() -> None:
    text = """
func.func @main(%w: tensor<3x256x128xf32>, %x0: tensor<128x64xf32>) -> tensor<256x64xf32> {
  %x = stablehlo.tanh %x0 : tensor<128x64xf32>
  %i = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %w, %i, %z, %z, sizes = [1, 256, 128] : (tensor<3x256x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x128xf32>
  %v = stablehlo.reshape %s : (tensor<1x256x128xf32>) -> tensor<256x128xf32>
  %y = stablehlo.dot_general %v, %x, contracting_dims = [1] x [0] : (tensor<256x128xf32>, tensor<128x64xf32>) -> tensor<256x64xf32>
  return %y : tensor<256x64xf32>
}"""  # noqa: E501
    assert scales_of(mlir_fp8.quantize(text, "block")) == [("2x1", "1x64")]


def test_attention_and_what_nothing_gives_have_no_squares() -> None:
    text = """
func.func @main(%q: tensor<2x128x256xf32>, %k: tensor<2x128x256xf32>) -> tensor<2x128x128xf32> {
  %y = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x128x256xf32>, tensor<2x128x256xf32>) -> tensor<2x128x128xf32>
  return %y : tensor<2x128x128xf32>
}"""  # noqa: E501
    assert scales_of(mlir_fp8.quantize(text, "block")) == [("2x128x2", "2x128x2")]


def test_kernels_of_a_card_have_its_products() -> None:
    made = mlir_fp8.quantize(step(outer=256), "block", target="xla-gpu", kernels="h200")
    text = str(made.module)
    assert text.count('name = "product"') == 3 and "dot_general" not in text


def test_weights_that_are_prepared_meet_activations_in_blocks() -> None:
    text = """
func.func @main(%x: tensor<8x256xf32>, %w: tensor<256x384xf32> {mlir_fp8.name = "w"}) -> tensor<8x384xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x256xf32>, tensor<256x384xf32>) -> tensor<8x384xf32>
  return %y : tensor<8x384xf32>
}"""  # noqa: E501
    made = mlir_fp8.quantize(text, mlir_fp8.BlockScaling(), weights=["w"], scales="block", wide=[])
    assert scales_of(made) == [("8x2", "2x3")]


@pytest.mark.parametrize(
    ("options", "reason"),
    [("history=4", "which has no history"), ("per=row", "which has no per")],
)
def test_what_the_recipe_has_not_is_refused(options: str, reason: str) -> None:
    module = mlir_fp8.load(step())
    with pytest.raises(Fp8Error, match=reason):
        run_pipeline(module, [f"fp8-quantize-dots{{recipe=block {options}}}"])


def test_ops_have_one_scale() -> None:
    with pytest.raises(Fp8Error, match="a scale per block, which ops do not take"):
        mlir_fp8.quantize(step(), "block", ops="all")
