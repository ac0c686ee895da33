"""What `checkpoint_of` says of activations, checkpoints of several f8 types, and other forms."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

RNG = np.random.default_rng(47)

MODULE = """
func.func @main(%u: tensor<8x16xf32> {mlir_fp8.name = "u.weight"},
    %v: tensor<8x8xf32> {mlir_fp8.name = "v.weight"},
    %w: tensor<4x8xf32> {mlir_fp8.name = "w.weight"}, %x: tensor<6x16xf32>) -> tensor<6x4xf32> {
  %a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [1]
    : (tensor<6x16xf32>, tensor<8x16xf32>) -> tensor<6x8xf32>
  %b = stablehlo.dot_general %a, %v, contracting_dims = [1] x [1]
    : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y = stablehlo.dot_general %b, %w, contracting_dims = [1] x [1]
    : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
"""
SHAPES = {"u.weight": (8, 16), "v.weight": (8, 8), "w.weight": (4, 8)}
WEIGHTS = {name: RNG.standard_normal(s).astype(np.float32) for name, s in SHAPES.items()}
X = RNG.standard_normal((6, 16)).astype(np.float32)


def exported(recipe: Any, **options: Any) -> mlir_fp8.Checkpoint:
    made = mlir_fp8.quantize(MODULE, recipe, weights=["*.weight"], **options)
    return mlir_fp8.checkpoint_of(made, made.prepare(WEIGHTS))


@pytest.mark.parametrize(
    ("recipe", "activation"),
    [
        (mlir_fp8.WeightOnly(), "wide"),
        (mlir_fp8.CurrentScaling(), "tensor"),
        (mlir_fp8.CurrentScaling(per="row"), "token"),
    ],
)
def test_activations_are_those_of_the_recipe(recipe: Any, activation: str) -> None:
    """The default leaves what the first and the last layer take wide: so does the checkpoint."""
    checkpoint = exported(recipe)
    kinds = {name: each.activation for name, each in checkpoint.weights.items()}
    assert kinds == {"u.weight": "wide", "v.weight": activation, "w.weight": "wide"}
    kinds = {each.activation for each in exported(recipe, wide=[]).weights.values()}
    assert kinds == {activation}


def test_a_static_recipe_gives_its_scales(tmp_path: Path) -> None:
    calibration = mlir_fp8.Calibration(MODULE, weights=["*.weight"]).run([X], WEIGHTS)
    recipe = mlir_fp8.StaticScaling(calibration)
    made = mlir_fp8.quantize(MODULE, recipe, weights=["*.weight"])
    prepared = made.prepare(WEIGHTS)
    checkpoint = mlir_fp8.checkpoint_of(made, prepared)
    scale = calibration.scale_of(["v.input_scale"])
    found = {name: each.input_scale for name, each in checkpoint.weights.items()}
    assert found == {"u.weight": None, "v.weight": scale, "w.weight": None}
    again, arrays = mlir_fp8.apply_checkpoint(MODULE, checkpoint)
    (one,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, X))
    (two,) = mlir_fp8.compile(again.module)(*again.arguments(arrays, X))
    np.testing.assert_array_equal(one, two)


def test_scales_per_channel_are_in_no_checkpoint() -> None:
    calibration = mlir_fp8.Calibration(MODULE, weights=["*.weight"], per="channel")
    recipe = mlir_fp8.StaticScaling(calibration.run([X], WEIGHTS))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'v\.input_scale' has 8 scales: .*per='tensor'"):
        exported(recipe)


def coded(name: str, dtype: Any) -> mlir_fp8.F8Weight:
    wide = WEIGHTS[name]
    scale = np.abs(wide).max(1, keepdims=True) / np.float32(float(ml_dtypes.finfo(dtype).max))
    return mlir_fp8.F8Weight((wide / scale).astype(dtype), scale.astype(np.float32), (1, 0))


TYPES = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz)


@pytest.mark.parametrize("activation", ["wide", "token"])
def test_weights_of_several_types(activation: Any, tmp_path: Path) -> None:
    """As a file without a configuration, which is read and applied, each weight in its own type."""
    pairs = zip(SHAPES, TYPES, strict=True)
    checkpoint = mlir_fp8.Checkpoint("here", {name: coded(name, dtype) for name, dtype in pairs})
    path = tmp_path / "model.safetensors"
    mlir_fp8.save_arrays(path, checkpoint.arrays)
    read = mlir_fp8.load_checkpoint(path)
    assert {name: each.codes.dtype for name, each in read.weights.items()} == {
        name: np.dtype(dtype) for name, dtype in zip(SHAPES, TYPES, strict=True)
    }
    made, arrays = mlir_fp8.apply_checkpoint(MODULE, read, activation=activation)
    assert [each.format for each in made.weights] == ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ"]
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, X))
    want = X.astype(np.float64)
    for name, dtype in zip(SHAPES, TYPES, strict=True):
        if activation == "token":
            if dtype is ml_dtypes.float8_e5m2:
                dtype = ml_dtypes.float8_e4m3fn
            largest = np.float32(float(ml_dtypes.finfo(dtype).max))
            scale = np.abs(want).max(1, keepdims=True).astype(np.float32) / largest
            want = (want.astype(np.float32) / scale).astype(dtype).astype(np.float64) * scale
        want = want @ checkpoint.weights[name].dequantized().astype(np.float64).T
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < (1e-6 if activation == "wide" else 1e-2)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'[vw]\.weight' is f8E.*: .*checkpoint\.arrays"):
        mlir_fp8.save_checkpoint(tmp_path / "new", read)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("types", [(0, 2), (1, 1), (0, 1)])
def test_two_weights_of_types_that_hardware_may_not_multiply(types: tuple[int, int]) -> None:
    module = """
func.func @main(%v: tensor<8x8xf32> {mlir_fp8.name = "v.weight"},
    %w: tensor<4x8xf32> {mlir_fp8.name = "w.weight"}) -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %v, %w, contracting_dims = [1] x [1]
    : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}"""
    v, w = (coded(f"{name}.weight", TYPES[at]) for name, at in zip("vw", types, strict=True))
    held = mlir_fp8.Checkpoint("here", {"v.weight": v, "w.weight": w})
    made, arrays = mlir_fp8.apply_checkpoint(module, held)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays))
    want = v.dequantized().astype(np.float64) @ w.dequantized().T
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
