"""Scale shifted from activations to weights: factors against numpy, and what they are good for."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.quantized import weights_of

RNG = np.random.default_rng(29)

TEXT = """
func.func @main(%q: tensor<16x8xf32> {mlir_fp8.name = "q"},
    %k: tensor<8x16xf32> {mlir_fp8.name = "k"}, %w: tensor<8x4xf32> {mlir_fp8.name = "w"},
    %x: tensor<6x16xf32>) -> tensor<6x4xf32> {
  %a = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0]
    : (tensor<6x16xf32>, tensor<16x8xf32>) -> tensor<6x8xf32>
  %b = stablehlo.dot_general %x, %k, contracting_dims = [1] x [1]
    : (tensor<6x16xf32>, tensor<8x16xf32>) -> tensor<6x8xf32>
  %c = stablehlo.add %a, %b : tensor<6x8xf32>
  %y = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0]
    : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
"""
NAMES = ["q", "k", "w"]
SHAPES = {"q": (16, 8), "k": (8, 16), "w": (8, 4)}


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


WEIGHTS = {name: normal(*shape) for name, shape in SHAPES.items()}
BATCHES = [normal(6, 16), 3 * normal(6, 16)]


def smoothing(**options: Any) -> mlir_fp8.Smoothing:
    return mlir_fp8.Smoothing(TEXT, weights=NAMES, **options).run(BATCHES, WEIGHTS)


def sqnr(got: np.ndarray, exact: np.ndarray) -> float:
    noise = np.square(got.astype(np.float64) - exact).sum()
    return float(10 * np.log10(np.square(exact).sum() / noise))


@pytest.mark.parametrize("strength", [0.0, 0.5, 0.8, 1.0])
def test_factors_are_those_of_the_paper(strength: float) -> None:
    """Weights that multiply the same activation share them."""
    factors = smoothing(strength=strength).factors
    x = np.abs(np.concatenate(BATCHES)).max(0)
    both = np.maximum(np.abs(WEIGHTS["q"]).max(1), np.abs(WEIGHTS["k"]).max(0))
    want = x**strength / both ** (1 - strength)
    np.testing.assert_allclose(factors["q"], want[:, None], rtol=1e-6)
    np.testing.assert_array_equal(factors["k"], factors["q"].T)
    c = np.abs(np.concatenate([x @ WEIGHTS["q"] + x @ WEIGHTS["k"].T for x in BATCHES])).max(0)
    want = c**strength / np.abs(WEIGHTS["w"]).max(1) ** (1 - strength)
    np.testing.assert_allclose(factors["w"], want[:, None], rtol=1e-5)


def test_a_channel_of_zeros_has_1() -> None:
    batch = BATCHES[0].copy()
    batch[:, 2] = 0
    zeros = {**WEIGHTS, "q": WEIGHTS["q"].copy(), "k": WEIGHTS["k"].copy()}
    zeros["q"][5] = 0
    zeros["k"][:, 5] = 0
    factors = mlir_fp8.Smoothing(TEXT, weights=NAMES).run([batch], zeros).factors["q"]
    assert factors[2] == factors[5] == 1 != factors[3]


def test_powers_of_two_are_exact() -> None:
    """The module is that of x / s and s w, to the bit; the activation is divided once."""
    found = smoothing(powers_of_two=True)
    factors = found.factors
    assert all((np.frexp(each)[0] == 0.5).all() for each in factors.values())
    np.testing.assert_allclose(np.log2(factors["q"] / smoothing().factors["q"]), 0, atol=0.5001)
    made = mlir_fp8.quantize(TEXT, "current", weights=NAMES, wide=[], smoothing=found)
    text = str(made.module)
    assert text.count('"fp8.quantize"') == 2
    prepared = made.prepare(WEIGHTS)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, BATCHES[0]))
    # The same by hand: w's factors are in q and k of another module.
    by_hand = {name: WEIGHTS[name] * factors[name] for name in NAMES}
    own = mlir_fp8.quantize(TEXT, "current", weights=NAMES, wide=[])
    for name, array in own.prepare(by_hand).items():
        np.testing.assert_array_equal(array.view(np.uint8), prepared[name].view(np.uint8))
    text = TEXT.replace("%c, %w,", "%d, %w,").replace(
        "%y = ",
        f"%f = stablehlo.constant dense<{(1 / factors['w']).ravel().tolist()}> : tensor<8xf32>\n"
        "%g = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<8xf32>) -> tensor<6x8xf32>\n"
        "%d = stablehlo.multiply %c, %g : tensor<6x8xf32>\n%y = ",
    )
    own = mlir_fp8.quantize(text, "current", weights=NAMES, wide=[])
    (want,) = mlir_fp8.compile(own.module)(
        *own.arguments(own.prepare(by_hand), BATCHES[0] / factors["q"].ravel())
    )
    np.testing.assert_array_equal(got, want)


OUTLIERS = """
func.func @main(%w: tensor<64x32xf32> {mlir_fp8.name = "w"}, %x: tensor<16x64xf32>)
    -> tensor<16x32xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
"""


def outliers() -> tuple[np.ndarray, np.ndarray]:
    """Two channels of an activation a million times the others, which weigh as much less."""
    x, w = normal(16, 64), normal(64, 32)
    x[:, [3, 40]] *= 1e6
    w[[3, 40]] *= 1e-6
    return x, w


@pytest.mark.parametrize("recipe", ["current", "row", "max", "mse", "percentile=99.99", "channel"])
def test_outlier_channels_no_longer_take_the_range(recipe: str) -> None:
    x, w = outliers()
    given: dict[str, Any] = {"w": w}
    options: dict[str, Any] = {"weights": ["w"]}
    shifted = mlir_fp8.Smoothing(OUTLIERS, **options).run([x], given)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    found = {}
    for smooth in (None, shifted):
        if recipe in ("current", "row"):
            per = "row" if recipe == "row" else "tensor"
            used: Any = mlir_fp8.CurrentScaling(per=per)
        else:
            seen: dict[str, Any] = {"per": recipe} if recipe == "channel" else {"observer": recipe}
            calibration = mlir_fp8.Calibration(OUTLIERS, **options, **seen, smoothing=smooth)
            used = mlir_fp8.StaticScaling(calibration.run([x], given))
        made = mlir_fp8.quantize(OUTLIERS, used, **options, smoothing=smooth)
        (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare(given), x))
        found[smooth is not None] = sqnr(got, exact)
    # Weights of a million-th lose all bits too, so that scales of channels alone are no help.
    assert found[False] < 15
    assert found[True] > 27
    assert found[True] > found[False] + 12


def test_a_static_recipe_brings_its_smoothing() -> None:
    found = smoothing()
    calibration = mlir_fp8.Calibration(TEXT, weights=NAMES, smoothing=found)
    recipe = mlir_fp8.StaticScaling(calibration.run(BATCHES, WEIGHTS))
    largest = np.abs(np.concatenate(BATCHES) / found.factors["q"].ravel()).max()
    np.testing.assert_allclose(calibration.tensors["dot0.lhs"], largest, rtol=1e-6)
    made = mlir_fp8.quantize(TEXT, recipe, weights=NAMES, wide=[])
    assert [each.smoothed for each in made.weights] == [
        "16 channels smoothed", "16 channels smoothed", "8 channels smoothed",
    ]  # fmt: skip
    same = mlir_fp8.quantize(TEXT, recipe, weights=NAMES, wide=[], smoothing=found)
    assert str(same.module) == str(made.module)
    other = mlir_fp8.Calibration(TEXT, weights=NAMES).run(BATCHES, WEIGHTS)
    with pytest.raises(mlir_fp8.Fp8Error, match="calibrated without this smoothing"):
        mlir_fp8.quantize(TEXT, mlir_fp8.StaticScaling(other), weights=NAMES, smoothing=found)


def test_what_stays_wide_is_not_divided() -> None:
    """The default keeps what the first and the last layer take."""
    made = mlir_fp8.quantize(TEXT, "current", weights=NAMES, smoothing=smoothing())
    notes = {each.name: each.smoothed for each in made.weights}
    assert notes == {
        "q": "not smoothed: what it multiplies stays wide",
        "k": "16 channels smoothed",
        "w": "not smoothed: what it multiplies stays wide",
    }
    prepared = made.prepare(WEIGHTS)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, BATCHES[0]))
    x = BATCHES[0].astype(np.float64)
    exact = (x @ WEIGHTS["q"] + x @ WEIGHTS["k"].T) @ WEIGHTS["w"]
    assert sqnr(got, exact) > 24
    assert [each.smoothing is None for each in weights_of(made.module)] == [True, False, True]


def test_artifacts_keep_the_factors() -> None:
    made = mlir_fp8.quantize(TEXT, "current", weights=NAMES, wide=[], smoothing=smoothing())
    again = mlir_fp8.load(mlir_fp8.serialize(made.module))
    for before, after in zip(weights_of(made.module), weights_of(again), strict=True):
        assert before.smoothing is not None and after.smoothing is not None
        np.testing.assert_array_equal(before.smoothing, after.smoothing)


def test_a_checkpoint_has_no_factors() -> None:
    made = mlir_fp8.quantize(TEXT, "current", weights=NAMES, wide=[], smoothing=smoothing())
    with pytest.raises(mlir_fp8.Fp8Error, match="'q' is smoothed, and a checkpoint has no factors"):
        mlir_fp8.checkpoint_of(made, made.prepare(WEIGHTS))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"recipe": "weight_only"}, "recipe is weight_only, which leaves activations wide"),
        ({"weights": []}, "smoothing shifts scale to weights: name weights"),
        ({"smoothing": {"u": np.ones((1, 1))}}, "smoothing has 'u', which is none of the weights"),
        ({"smoothing": {"k": np.ones((16, 1))}}, r"'k' has factors of shape \[16, 1\] .*\[1, 16\]"),
        ({"smoothing": {"k": np.zeros((1, 16))}}, "'k' has a factor .* 2.-126 and 2.126"),
        ({"smoothing": {"k": np.full((1, 16), np.nan)}}, "'k' has a factor"),
        ({"smoothing": 0.5}, "smoothing is a float: give a Smoothing"),
    ],
)
def test_what_is_refused(options: dict[str, Any], reason: str) -> None:
    given: dict[str, Any] = {"recipe": "current", "weights": NAMES, "smoothing": smoothing()}
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        mlir_fp8.quantize(TEXT, **{**given, **options})


def test_smoothings_that_are_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="strength is half: it is between 0"):
        mlir_fp8.Smoothing(TEXT, weights=NAMES, strength="half")  # pyright: ignore[reportArgumentType]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"strength is 1\.5: it is between 0"):
        mlir_fp8.Smoothing(TEXT, weights=NAMES, strength=1.5)
    found = mlir_fp8.Smoothing(TEXT, weights=NAMES)
    with pytest.raises(mlir_fp8.Fp8Error, match="has seen no batch"):
        mlir_fp8.quantize(TEXT, "current", weights=NAMES, smoothing=found)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'dot0.lhs' is infinite or NaN in batch 1"):
        found.run([BATCHES[0] * np.inf], WEIGHTS)


@pytest.mark.parametrize("recipe", ["current", "static"])
def test_trials_measure_what_is_made(recipe: str) -> None:
    x, w = outliers()
    shifted = mlir_fp8.Smoothing(OUTLIERS, weights=["w"]).run([x], {"w": w})
    used: Any = recipe
    if recipe == "static":
        calibration = mlir_fp8.Calibration(OUTLIERS, weights=["w"], smoothing=shifted)
        used = mlir_fp8.StaticScaling(calibration.run([x], {"w": w}))
    made = mlir_fp8.quantize(OUTLIERS, used, weights=["w"], smoothing=shifted)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"w": w}), x))
    trial = mlir_fp8.Trial(OUTLIERS, used, [x], {"w": w}, weights=["w"], smoothing=shifted)
    assert trial.sqnr(["w"]) == pytest.approx(sqnr(got, x.astype(np.float64) @ w), abs=0.1)
    if recipe == "current":
        assert trial.sqnr(["w"]) > 12 + mlir_fp8.Trial(
            OUTLIERS, used, [x], {"w": w}, weights=["w"]
        ).sqnr(["w"])
