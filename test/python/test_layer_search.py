"""What each layer costs, which layers a bound allows, and what stays wide by default."""

import math

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.lowering.fp8.scaling.decisions import Decision

RNG = np.random.default_rng(31)
LAYERS = 4


def chain(layers: int = LAYERS) -> str:
    """A product after the other, each with a weight of its own."""
    arguments = ", ".join(
        f'%w{i}: tensor<16x16xf32> {{mlir_fp8.name = "w{i}"}}' for i in range(layers)
    )
    lines = [
        f"  %h{i + 1} = stablehlo.dot_general %h{i}, %w{i}, contracting_dims = [1] x [0]"
        " : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>"
        for i in range(layers)
    ]
    return "\n".join(
        [
            f"func.func @main({arguments}, %h0: tensor<8x16xf32>) -> tensor<8x16xf32> {{",
            *lines,
            f"  return %h{layers} : tensor<8x16xf32>",
            "}",
        ]
    )


NAMES = [f"w{i}" for i in range(LAYERS)]
PARAMETERS = {name: RNG.standard_normal((16, 16)).astype(np.float32) for name in NAMES}
PARAMETERS["w2"] = (2.0 ** RNG.integers(-2, 3, (16, 16))).astype(np.float32)  # exact in f8
X = RNG.standard_normal((8, 16)).astype(np.float32)


def sqnr(got: np.ndarray, want: np.ndarray) -> float:
    return 10 * math.log10(np.square(want).sum() / np.square(got - want).sum())


def exact() -> np.ndarray:
    product = X.astype(np.float64)
    for name in NAMES:
        product = product @ PARAMETERS[name]
    return product


def formats(decision: object) -> tuple[str, str] | None:
    assert isinstance(decision, Decision)
    return decision.formats


def quantized(recipe: object, wide: list[str]) -> np.ndarray:
    made = mlir_fp8.quantize(chain(), recipe, weights=["w*"], scales="tensor", wide=wide)  # pyright: ignore[reportArgumentType]
    return mlir_fp8.compile(made.module)(*made.arguments(made.prepare(PARAMETERS), X))[0]


RECIPES = {
    "weight_only": "weight_only",
    "current": "current",
    "row": mlir_fp8.CurrentScaling(per="row"),
    "static": mlir_fp8.StaticScaling(
        mlir_fp8.Calibration(chain(), weights=["w*"]).run([X], PARAMETERS)
    ),
}


@pytest.mark.parametrize("wide", [[], ["default"]])
@pytest.mark.parametrize("name", RECIPES)
def test_a_trial_is_the_quantized_module(name: str, wide: list[str]) -> None:
    trial = mlir_fp8.Trial(
        chain(), RECIPES[name], [X], PARAMETERS, weights=["w*"], scales="tensor", wide=wide
    )
    real = sqnr(quantized(RECIPES[name], wide), exact())
    assert trial.sqnr(NAMES) == pytest.approx(real, abs=0.02)
    assert trial.sqnr([]) == math.inf
    for left in NAMES:
        others = [each for each in NAMES if each != left]
        real = sqnr(quantized(RECIPES[name], [*wide, left]), exact())
        assert trial.sqnr(others) == pytest.approx(real, abs=0.02)


def test_costs_are_sorted_and_choices_keep_the_bound() -> None:
    trial = mlir_fp8.Trial(chain(), "weight_only", [X], PARAMETERS, weights=["w*"], scales="tensor")
    told: list[tuple[int, int]] = []
    costs = trial.costs(lambda *each: told.append(each))
    assert told[-1] == (4, 4)
    assert [each.sqnr for each in costs] == sorted((each.sqnr for each in costs), reverse=True)
    assert costs[0].name == "w2"
    assert costs[0].sqnr > 100
    everything = trial.sqnr(NAMES)
    assert trial.choose(everything - 0.1, costs).wide == ()
    choice = trial.choose(everything + 0.5, costs)
    assert 1 <= len(choice.wide) < LAYERS
    assert choice.sqnr >= everything + 0.5
    assert sqnr(quantized("weight_only", list(choice.wide)), exact()) >= everything + 0.48
    # No layer that stays wide could be added.
    for name in choice.wide:
        assert trial.sqnr([*choice.in_fp8, name]) < everything + 0.5
    assert trial.choose(100, costs).in_fp8 == ("w2",)
    inexact = mlir_fp8.Trial(chain(), "weight_only", [X], PARAMETERS, weights=["w0", "w1"])
    with pytest.raises(mlir_fp8.Fp8Error, match=r"no layer can be in FP8 at 90 dB: .* alone"):
        inexact.choose(90)


def test_what_cannot_be_tried() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="recipe has state"):
        mlir_fp8.Trial(chain(), "delayed", [X], PARAMETERS, weights=["w*"])
    with pytest.raises(mlir_fp8.Fp8Error, match="there is no batch"):
        mlir_fp8.Trial(chain(), "current", [], PARAMETERS, weights=["w*"])
    with pytest.raises(mlir_fp8.Fp8Error, match="a batch has 2 arrays, of arguments: arg4"):
        mlir_fp8.Trial(chain(), "current", [(X, X)], PARAMETERS, weights=["w*"])


def test_first_and_last_layers_multiply_wide_tensors() -> None:
    made = mlir_fp8.quantize(chain(), "current", weights=["w*"])
    assert [formats(each) for each in made.decisions] == [
        ("f32", "f8E4M3FN"),
        ("f8E4M3FN", "f8E4M3FN"),
        ("f8E4M3FN", "f8E4M3FN"),
        ("f32", "f8E4M3FN"),
    ]
    assert str(made.decisions[0]).endswith("as it is the first product of a weight")
    assert str(made.decisions[3]).endswith("as it is the last product of a weight")
    every = mlir_fp8.quantize(chain(), "current", weights=["w*"], wide=[])
    assert {formats(each) for each in every.decisions} == {("f8E4M3FN", "f8E4M3FN")}
    two = mlir_fp8.quantize(chain(2), "current", weights=["w*"])
    assert {formats(each) for each in two.decisions} == {("f8E4M3FN", "f8E4M3FN")}


def test_named_weights_stay_wide() -> None:
    made = mlir_fp8.quantize(chain(), "current", weights=["w*"], wide=["w1", "w[23]"])
    assert [bool(each.left) for each in made.weights] == [False, True, True, True]
    assert [each.left for each in made.decisions][1:] == ["multiplies none of the weights"] * 3


ROUTER = """
func.func @main(%r: tensor<16x4xf32> {mlir_fp8.name = "router"},
    %w: tensor<16x16xf32> {mlir_fp8.name = "w"}, %x: tensor<8x16xf32>)
    -> (tensor<8x2xi32>, tensor<8x16xf32>) {
  %s = stablehlo.dot_general %x, %r, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %e = stablehlo.exponential %s : tensor<8x4xf32>
  %v, %i = chlo.top_k(%e, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %i, %y : tensor<8x2xi32>, tensor<8x16xf32>
}
"""


def test_routers_stay_wide() -> None:
    for recipe in ("weight_only", "current"):
        made = mlir_fp8.quantize(ROUTER, recipe, weights=["router", "w"])
        router = next(each for each in made.weights if each.name == "router")
        assert router.left == "is a router's: what the product gives is sorted"
        every = mlir_fp8.quantize(ROUTER, recipe, weights=["router", "w"], wide=[])
        assert not any(each.left for each in every.weights)
