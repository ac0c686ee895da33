"""Experts in f8: weights of `chlo.ragged_dot`, each with scales of its own, against numpy."""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context

E4M3 = ml_dtypes.float8_e4m3fn
RNG = np.random.default_rng(41)
SIZES = np.array([10, 0, 27, 20], np.int32)  # 3 of 60 rows are of no group

TEXT = """
func.func @main(%x: tensor<60x64x{t}> {{mlir_fp8.name = "x"}},
    %w: tensor<{w}x{t}> {{mlir_fp8.name = "experts.up"}}, %n: tensor<4xi32>) -> tensor<60x48x{t}> {{
  %0 = "chlo.ragged_dot"(%x, %w, %n) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [{k}],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [{g}]>}}
    : (tensor<60x64x{t}>, tensor<{w}x{t}>, tensor<4xi32>) -> tensor<60x48x{t}>
  return %0 : tensor<60x48x{t}>
}}"""
FORMS = {"in, out": (0, 1), "out, in": (0, 2), "last": (2, 0)}
"""Where experts and summands are among the dimensions of the weight."""


def module(form: str = "in, out", element: str = "f32") -> str:
    group, summed = FORMS[form]
    shape = [48] * 3
    shape[group], shape[summed] = 4, 64
    return TEXT.format(t=element, w="x".join(map(str, shape)), g=group, k=summed)


def arranged(w: np.ndarray, form: str) -> np.ndarray:
    """A weight [expert, in, out] in the form of an argument."""
    group, summed = FORMS[form]
    order = [0] * 3
    order[group], order[summed], order[3 - group - summed] = 0, 1, 2
    return np.ascontiguousarray(w.transpose(order))


def experts() -> tuple[np.ndarray, np.ndarray]:
    """An activation, and experts of very different sizes."""
    w = RNG.standard_normal((4, 64, 48)) * np.array([1e-5, 1, 1, 1e4])[:, None, None]
    return RNG.standard_normal((60, 64)).astype(np.float32), w.astype(np.float32)


def reference(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    want, start = np.zeros((60, 48)), 0
    for matrix, size in zip(w.astype(np.float64), SIZES, strict=True):
        want[start : start + size] = x[start : start + size].astype(np.float64) @ matrix
        start += size
    return want


def rounded(x: np.ndarray, axis: Any) -> np.ndarray:
    """To f8E4M3FN by the largest magnitude along `axis`, and back, in f64."""
    x = x.astype(np.float32)
    scale = np.abs(x).max(axis, keepdims=True) / np.float32(448)
    return (x / scale).clip(-448, 448).astype(E4M3).astype(np.float64) * scale


def error(got: np.ndarray, want: np.ndarray) -> float:
    """The largest of those of groups: large experts do not hide small ones."""
    ends = np.cumsum(SIZES)
    parts = [(slice(end - size, end)) for end, size in zip(ends, SIZES, strict=True) if size]
    got = got.astype(np.float64)
    assert not got[ends[-1] :].any()
    return float(max(np.linalg.norm(got[p] - want[p]) / np.linalg.norm(want[p]) for p in parts))


def result(made: mlir_fp8.Quantized, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    prepared = made.prepare({"experts.up": w})
    outputs = mlir_fp8.compile(made.module)(
        *made.arguments(prepared, x, SIZES), *made.state.values()
    )
    return np.asarray(outputs[0])


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("form", FORMS)
def test_weight_only(form: str, element: str) -> None:
    """The sums are those of the codes, times the scale of the expert and the output channel."""
    dtype = np.float32 if element == "f32" else ml_dtypes.bfloat16
    x, w = (each.astype(dtype) for each in experts())
    made = mlir_fp8.quantize(module(form, element), "weight_only", weights=["experts.up"])
    assert '"fp8.dequantize"' not in str(made.module)
    got = result(made, arranged(w, form), x)
    assert error(got, reference(x, rounded(w, 1))) < (1e-6 if element == "f32" else 4e-3)
    (op,) = made.decisions
    assert "becomes f32 wide x f8E4M3FN experts.up" in str(op) or element == "bf16"
    (weight,) = made.weights
    assert sorted(weight.scale_shape) == [1, 4, 48]


def test_activations() -> None:
    x, w = experts()
    x *= 10 ** RNG.uniform(-4, 4, (60, 1)).astype(np.float32)
    weights: dict[str, Any] = {"weights": ["experts.up"]}
    scale = np.abs(x).max() / np.float32(448)
    for recipe, axis in (
        (mlir_fp8.CurrentScaling(), None),
        (mlir_fp8.CurrentScaling(per="row"), 1),
        (mlir_fp8.StaticScaling({"experts.up_input_scale": scale}), None),
    ):
        made = mlir_fp8.quantize(module(), recipe, **weights)
        assert '"fp8.dequantize"' not in str(made.module)
        want = reference(rounded(x, axis), rounded(w, 1))
        assert error(result(made, w, x), want) < 1e-6
        assert "f8E4M3FN dot0.lhs x f8E4M3FN experts.up" in str(made.decisions[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("experts_too", [True, False])
def test_mx(form: str, experts_too: bool) -> None:
    """Ragged dots read what codes and scales stand for: no op scales their blocks."""
    x, w = experts()
    weights: dict[str, Any] = {"weights": ["experts.up"]} if experts_too else {}
    made = mlir_fp8.quantize(module(form), mlir_fp8.MXScaling(), **weights)
    given = (x, arranged(w, form), SIZES)
    got = (
        result(made, given[1], x)
        if experts_too
        else np.asarray(mlir_fp8.compile(made.module)(*given)[0])
    )
    want = reference(in_mx(x), np.moveaxis(in_mx(np.moveaxis(w, 1, 2)), 2, 1))
    assert error(got, want) < 1e-6


def in_mx(x: np.ndarray) -> np.ndarray:
    """In MXFP8 along the last axis, and back, in f64."""
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    scale = np.exp2(np.floor(np.log2(np.abs(blocks).max(-1, keepdims=True))) - 8)
    codes = (blocks / scale).clip(-448, 448).astype(E4M3)
    return (codes.astype(np.float64) * scale).reshape(x.shape)


def test_delayed_scaling() -> None:
    x, w = experts()
    made = mlir_fp8.quantize(module(), "delayed", weights=["experts.up"])
    x = x.clip(-4, 4)
    want = reference(x.astype(E4M3).astype(np.float64), rounded(w, 1))  # of scale 1 at first
    assert error(result(made, w, x), want) < 1e-6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["tensor", "block", "group32"])
def test_layouts(layout: str, form: str) -> None:
    x, w = experts()
    w[0] *= 1e5
    w[3] *= 1e-4
    made = mlir_fp8.quantize(module(form), "current", weights=["experts.up"], scales=layout)
    if layout == "tensor":
        wide = rounded(w, None)
    elif layout == "block":
        wide = rounded(w, (1, 2))  # an expert is less than 128 x 128
    else:
        wide = rounded(w.reshape(4, 2, 32, 48), 2).reshape(w.shape)
    want = reference(rounded(x, None), wide)
    assert error(result(made, arranged(w, form), x), want) < 1e-6


@pytest.mark.parametrize("recipe", ["current", "weight_only"])
def test_blocks_of_channels_alone(recipe: str) -> None:
    """Of experts with no more than 128 summands: the result has their scales."""
    x, w = RNG.standard_normal((60, 64)), RNG.standard_normal((4, 64, 256))
    w[:, :, 128:] *= 1e4
    x, w = x.astype(np.float32), w.astype(np.float32)
    text = module().replace("4x64x48", "4x64x256").replace("60x48", "60x256")
    made = mlir_fp8.quantize(text, recipe, weights=["experts.up"], scales="block")
    wide = rounded(w.reshape(4, 64, 2, 128), (1, 3)).reshape(w.shape)
    want, start = np.zeros((60, 256)), 0
    rows = rounded(x, None) if recipe == "current" else x.astype(np.float64)
    for matrix, size in zip(wide, SIZES, strict=True):
        want[start : start + size] = rows[start : start + size] @ matrix
        start += size
    assert error(result(made, w, x), want) < 1e-6


def test_calibrated_and_smoothed() -> None:
    """All experts share the factors of what they multiply."""
    x, w = experts()
    x[:, 5] *= 1e6
    w[:, 5] *= 1e-6
    given = [(x, SIZES)]
    shifted = mlir_fp8.Smoothing(module(), weights=["experts.up"]).run(given, {"experts.up": w})
    assert shifted.factors["experts.up"].shape == (1, 64, 1)
    calibration = mlir_fp8.Calibration(module(), weights=["experts.up"], smoothing=shifted)
    recipe = mlir_fp8.StaticScaling(calibration.run(given, {"experts.up": w}))
    made = mlir_fp8.quantize(module(), recipe, weights=["experts.up"])
    assert error(result(made, w, x), reference(x, w)) < 0.06


BATCHED = """
func.func @main(%x: tensor<2x9x8xf32>, %w: tensor<2x3x8x5xf32> {mlir_fp8.name = "w"},
    %n: tensor<2x3xi32>) -> tensor<2x9x5xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
    lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
    lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}
    : (tensor<2x9x8xf32>, tensor<2x3x8x5xf32>, tensor<2x3xi32>) -> tensor<2x9x5xf32>
  return %0 : tensor<2x9x5xf32>
}"""


@pytest.mark.parametrize("recipe", ["weight_only", "row"])
def test_batches(recipe: str) -> None:
    x = RNG.standard_normal((2, 9, 8)).astype(np.float32)
    w = RNG.standard_normal((2, 3, 8, 5)).astype(np.float32)
    sizes = np.array([[4, 3, 2], [1, 0, 6]], np.int32)
    used: Any = mlir_fp8.CurrentScaling(per="row") if recipe == "row" else recipe
    made = mlir_fp8.quantize(BATCHED, used, weights=["w"])
    arguments = made.arguments(made.prepare({"w": w}), x, sizes)
    (got,) = mlir_fp8.compile(made.module)(*arguments)
    wide, rows = rounded(w, 2), rounded(x, 2) if recipe == "row" else x
    want, ends = np.zeros((2, 9, 5)), np.cumsum(sizes, 1)
    for b, g in np.ndindex(2, 3):
        part = slice(ends[b, g] - sizes[b, g], ends[b, g])
        want[b, part] = rows[b, part] @ wide[b, g]
    np.testing.assert_allclose(got, want, atol=1e-5)


SUMS = """
func.func @main(%x: tensor<6x8xf32>, %w: tensor<8x5xf32> {mlir_fp8.name = "w"}, %n: tensor<2xi32>)
    -> tensor<2x6x5xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],
    lhs_ragged_dimensions = [1]>}
    : (tensor<6x8xf32>, tensor<8x5xf32>, tensor<2xi32>) -> tensor<2x6x5xf32>
  return %0 : tensor<2x6x5xf32>
}"""


@pytest.mark.parametrize("layout", ["tensor", "channel"])
@pytest.mark.parametrize("recipe", ["weight_only", "current"])
def test_groups_of_summands(recipe: str, layout: str) -> None:
    x = RNG.standard_normal((6, 8)).astype(np.float32)
    w = RNG.standard_normal((8, 5)).astype(np.float32)
    made = mlir_fp8.quantize(SUMS, recipe, weights=["w"], scales=layout)
    arguments = made.arguments(made.prepare({"w": w}), x, np.array([3, 4], np.int32))
    (got,) = mlir_fp8.compile(made.module)(*arguments)
    wide = rounded(w, None if layout == "tensor" else 0)
    rows = rounded(x, None) if recipe == "current" else x
    want = np.stack([rows[:, :3] @ wide[:3], rows[:, 3:7] @ wide[3:7]])
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_composites_of_exports() -> None:
    """Artifacts have ragged dots as composites; one of another version keeps its weight wide."""
    artifact = mlir_fp8.serialize(ir.Module.parse(module(), make_context()), "current")
    assert "stablehlo.composite" in str(mlir_fp8.deserialize(artifact))
    x, w = experts()
    made = mlir_fp8.quantize(artifact, "weight_only", weights=["experts.up"])
    prepared = made.prepare({"experts.up": w})
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x, SIZES))
    assert error(got, reference(x, rounded(w, 1))) < 1e-6
    again = mlir_fp8.serialize(made.module)
    (same,) = mlir_fp8.compile(again)(*made.arguments(prepared, x, SIZES))
    np.testing.assert_array_equal(same, got)
    newer = str(mlir_fp8.deserialize(artifact)).replace("version = 1 : i32", "version = 7 : i32")
    made = mlir_fp8.quantize(newer, "weight_only", weights=["*"])
    left = {each.signature: each.left for each in made.weights}
    assert left["tensor<4x64x48xf32>"] == (
        "is read by stablehlo.composite and by no product and no gather"
    )


@pytest.mark.parametrize("activation", ["wide", "token", "tensor", "group"])
def test_checkpoints_of_experts(activation: Any, tmp_path: Path) -> None:
    x, w = experts()
    by_hand = arranged(w, "out, in")
    scale = np.abs(by_hand).max((1, 2), keepdims=True) / np.float32(448)
    codes = (by_hand / scale).astype(E4M3)
    arrays = {"experts.up": codes, "experts.up_scale": scale}
    mlir_fp8.save_arrays(tmp_path / "model.safetensors", arrays)
    (tmp_path / "config.json").write_text(json.dumps({}))
    made, given = mlir_fp8.apply_checkpoint(
        module("out, in"), tmp_path / "model.safetensors", activation=activation
    )
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(given, x, SIZES))
    axis = {"token": 1, "group": 1, "wide": None, "tensor": None}[activation]
    rows = x if activation == "wide" else rounded(x, axis)
    want = reference(rows, (codes.astype(np.float64) * scale).transpose(0, 2, 1))
    assert error(got, want) < 1e-6
