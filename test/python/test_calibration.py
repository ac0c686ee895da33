"""Scales of activations from sample batches: observers against numpy, in loops too."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.inference.thresholds import least_error, percentile

E4M3 = ml_dtypes.float8_e4m3fn
RNG = np.random.default_rng(23)

TEXT = """
func.func @main(%v: tensor<8x16xf32> {mlir_fp8.name = "v.weight"},
    %w: tensor<16x4xf32> {mlir_fp8.name = "w.weight"}, %x: tensor<32x8xf32>) -> tensor<32x4xf32> {
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
    : (tensor<32x8xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %t = stablehlo.tanh %h : tensor<32x16xf32>
  %y = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0]
    : (tensor<32x16xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  return %y : tensor<32x4xf32>
}
"""
V, W = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 4)))
PARAMETERS = {"v.weight": V, "w.weight": W}
BATCHES = [RNG.standard_normal((32, 8)).astype(np.float32) * size for size in (1, 3, 2)]
ALL = np.abs(np.concatenate(BATCHES))


def calibrated(**options: Any) -> mlir_fp8.Calibration:
    calibration = mlir_fp8.Calibration(TEXT, weights=["*.weight"], **options)
    return calibration.run(BATCHES, PARAMETERS)


def rounded(x: np.ndarray, scale: Any) -> np.ndarray:
    return (x / scale).clip(-448, 448).astype(E4M3).astype(np.float64) * scale


def test_max_is_the_largest_of_all_batches() -> None:
    calibration = calibrated()
    hidden = max(np.abs(np.tanh(x @ V)).max() for x in BATCHES)
    assert list(calibration.tensors) == ["dot0.lhs", "dot1.lhs"]
    assert calibration.tensors["dot0.lhs"] == ALL.max()
    np.testing.assert_allclose(calibration.tensors["dot1.lhs"], hidden, rtol=1e-6)
    assert calibration.scale_of(["dot0.lhs"]) == np.float32(ALL.max() / np.float32(448))
    assert calibration.scale_of(["v.input_scale"]) == calibration.scale_of(["dot0.lhs"])
    assert calibration.scale_of(["dot7.lhs"]) is None
    assert calibration.batches == 3


def test_per_channel_is_the_largest_of_each_summed_element() -> None:
    found = calibrated(per="channel").tensors["dot0.lhs"]
    np.testing.assert_array_equal(found, ALL.max(0, keepdims=True))


@pytest.mark.parametrize("share", [50.0, 90.0, 99.9, 100.0])
def test_percentiles_are_numpy_s_up_to_a_bin(share: float) -> None:
    scale = calibrated(observer=f"percentile={share}").scale_of(["dot0.lhs"])
    want = np.percentile(ALL, share, method="inverted_cdf")
    assert scale is not None
    np.testing.assert_allclose(scale * 448, want, rtol=1 / 64)


def test_least_error_is_that_of_all_thresholds() -> None:
    """Many small numbers and one large: clamping it costs less than losing all others."""
    x = np.concatenate([RNG.uniform(1e-4, 3e-4, 100000), [200.0]]).astype(np.float32)
    counts = np.bincount((x.view(np.uint32) >> 17).astype(np.int64), minlength=1 << 14)
    errors = {}
    for i in range(64):
        threshold = 200.0 * 2 ** (-i / 8)
        errors[i] = float(((rounded(x, np.float64(threshold / 448)) - x) ** 2).sum())
    best = min(errors, key=errors.__getitem__)
    found = float(least_error(counts, 200.0, "f8E4M3FN"))
    np.testing.assert_allclose(found, 200.0 * 2 ** (-best / 8), rtol=0.1)
    assert percentile(counts, 1.0) >= 200


@pytest.mark.parametrize("share", [50.0, 90.0, 100.0])
def test_percentiles_of_channels_are_numpy_s_up_to_a_bin(share: float) -> None:
    scale = calibrated(observer=f"percentile={share}", per="channel").scale_of(["dot0.lhs"])
    want = np.percentile(ALL, share, axis=0, method="inverted_cdf", keepdims=True)
    assert scale is not None and scale.shape == (1, 8)
    np.testing.assert_allclose(scale * 448, want, rtol=1 / 8)
    if share == 100:
        np.testing.assert_allclose(scale * 448, ALL.max(0, keepdims=True), rtol=1e-6)


def test_mse_of_channels_clamps_no_more_than_pays() -> None:
    """Channel 3 has one element far beyond all others, channel 5 none."""
    x = RNG.uniform(1e-4, 3e-4, (4000, 8)).astype(np.float32)
    x[7, 3] = 0.9
    text = TEXT.replace("32x8", "4000x8").replace("32x16", "4000x16").replace("32x4", "4000x4")
    made = mlir_fp8.Calibration(text, weights=["*.weight"], observer="mse", per="channel")
    scale = made.run([x], PARAMETERS).scale_of(["dot0.lhs"])
    assert scale is not None
    for channel in (3, 5):
        largest = x[:, channel].max()
        errors = [
            float(np.square(rounded(x[:, channel], s) - x[:, channel]).sum())
            for s in largest * 2.0 ** (-np.arange(64) / 8) / 448
        ]
        own = np.square(rounded(x[:, channel], scale[0, channel]) - x[:, channel]).sum()
        assert own <= 1.1 * min(errors)
    assert scale[0, 5] * 448 > x[:, 5].max() / 2


def test_mse_clamps_no_more_than_pays() -> None:
    scale = calibrated(observer="mse").scale_of(["dot0.lhs"])
    assert scale is not None
    own = float(((rounded(ALL, scale) - ALL) ** 2).sum())
    best = min(
        float(((rounded(ALL, ALL.max() * 2 ** (-i / 8) / 448) - ALL) ** 2).sum()) for i in range(24)
    )
    assert own <= 1.05 * best


@pytest.mark.parametrize("weights", [["*.weight"], []])
@pytest.mark.parametrize("per", ["tensor", "channel"])
def test_static_scales_are_constants(per: str, weights: list[str]) -> None:
    calibration = mlir_fp8.Calibration(TEXT, weights=weights, per=per).run(BATCHES, PARAMETERS)
    made = mlir_fp8.quantize(TEXT, mlir_fp8.StaticScaling(calibration), weights=weights)
    text = str(made.module)
    assert "stablehlo.reduce" not in text
    assert made.state == {}
    scale = calibration.scale_of(["dot0.lhs"])
    assert scale is not None
    x = BATCHES[0]
    prepared = made.prepare(PARAMETERS) if weights else PARAMETERS
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    exact = np.tanh(x.astype(np.float64) @ V) @ W
    assert 1e-3 < np.linalg.norm(got - exact) / np.linalg.norm(exact) < 0.06
    # What is beyond the calibrated range is clamped, not infinite.
    (far,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, 1e6 * x))
    assert np.isfinite(far).all()


def test_scales_by_the_names_of_checkpoints() -> None:
    scales = {"v.input_scale": 0.5, "dot1.lhs": 0.25}
    recipe = mlir_fp8.StaticScaling(scales)
    made = mlir_fp8.quantize(TEXT, recipe, weights=["*.weight"])
    x = BATCHES[0]
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare(PARAMETERS), x))
    v, w = (rounded(each, np.abs(each).max(0) / np.float32(448)) for each in (V, W))
    want = rounded(np.tanh(rounded(x, np.float64(0.5)) @ v), np.float64(0.25)) @ w
    assert np.linalg.norm(got - want) / np.linalg.norm(want) < 0.01
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor 'dot1.lhs' has no scale"):
        mlir_fp8.quantize(TEXT, mlir_fp8.StaticScaling({"v.input_scale": 1}), weights=["*.weight"])
    with pytest.raises(mlir_fp8.Fp8Error, match="it is from 2"):
        mlir_fp8.quantize(TEXT, mlir_fp8.StaticScaling({"dot0.lhs": 0.0, "dot1.lhs": 1}))


LOOP = """
func.func @main(%w: tensor<8x8xf32> {mlir_fp8.name = "w"}, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %i, %y = stablehlo.while(%n = %zero, %h = %x) : tensor<i32>, tensor<4x8xf32>
  cond {
    %more = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %after = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %after, %next : tensor<i32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
"""


@pytest.mark.parametrize("observer", ["max", "percentile=100"])
def test_turns_of_loops_are_all_seen(observer: str) -> None:
    w = (2 * np.eye(8)).astype(np.float32)
    x = RNG.uniform(-1, 1, (4, 8)).astype(np.float32)
    calibration = mlir_fp8.Calibration(LOOP, weights=["w"], observer=observer).run([x], {"w": w})
    scale = calibration.scale_of(["dot0.lhs"])
    assert scale is not None
    np.testing.assert_allclose(scale, 4 * np.abs(x).max() / np.float32(448), rtol=1e-6)
    made = mlir_fp8.quantize(LOOP, mlir_fp8.StaticScaling(calibration), weights=["w"])
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"w": w}), x))
    np.testing.assert_allclose(got, 8 * x, atol=0.3)


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[tuple[int, int | None]] = []
    calibration = mlir_fp8.Calibration(TEXT, weights=["*.weight"])
    calibration.run(iter(BATCHES), PARAMETERS, progress=lambda *each: calls.append(each))
    assert calls == [(1, None), (2, None), (3, None)]
    calibration.run(BATCHES[:2], PARAMETERS, progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == "calibrated on 2 of 2 batches"
    assert calibration.batches == 5


def test_what_cannot_be_calibrated() -> None:
    calibration = mlir_fp8.Calibration(TEXT, weights=["*.weight"])
    with pytest.raises(mlir_fp8.Fp8Error, match="has seen no batch"):
        mlir_fp8.quantize(TEXT, mlir_fp8.StaticScaling(calibration), weights=["*.weight"])
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'dot0.lhs' is infinite or NaN in batch 2"):
        calibration.run([BATCHES[0], BATCHES[0] * np.inf], PARAMETERS)
    with pytest.raises(mlir_fp8.Fp8Error, match="batch 1 has 2 arrays, of arguments: arg2"):
        calibration.run([(BATCHES[0], BATCHES[0])], PARAMETERS)
    with pytest.raises(mlir_fp8.Fp8Error, match="no argument is named 'u'"):
        calibration.run(BATCHES, {"u": V})
    wrong: list[dict[str, Any]] = [{"observer": "median"}, {"observer": "percentile=0"}]
    wrong.append({"per": "row"})
    for options in wrong:
        with pytest.raises(mlir_fp8.Fp8Error, match=r"observer is|per is"):
            mlir_fp8.Calibration(TEXT, weights=["*.weight"], **options)
    with pytest.raises(mlir_fp8.Fp8Error, match="scales is a str"):
        mlir_fp8.StaticScaling("max")


@pytest.mark.parametrize("weights", [["*.weight"], []])
def test_rows_have_scales_of_their_own(weights: list[str]) -> None:
    """Rows of very different sizes: one scale for all would lose the small ones."""
    x = BATCHES[0] * 10 ** RNG.uniform(-4, 4, (32, 1)).astype(np.float32)
    text = TEXT.replace("stablehlo.tanh %h", "stablehlo.abs %h")
    exact = np.abs(x.astype(np.float64) @ V) @ W
    errors = {}
    for per in ("tensor", "row"):
        made = mlir_fp8.quantize(text, mlir_fp8.CurrentScaling(per=per), weights=weights)
        prepared = made.prepare(PARAMETERS) if weights else PARAMETERS
        (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
        size = np.linalg.norm(exact, axis=1)
        errors[per] = (np.linalg.norm(got - exact, axis=1) / size).max()
    assert errors["row"] < 0.2 < errors["tensor"]
    assert "tensor<32x1xf32>" in str(made.module)


def test_ops_take_no_scale_per_row() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="a scale per row, which ops do not take"):
        mlir_fp8.quantize(TEXT, mlir_fp8.CurrentScaling(per="row"), ops="all")
