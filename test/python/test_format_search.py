"""Which format each layer takes: measured as quantized modules are, and the fewest bytes."""

import math
from itertools import product

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error, MXScaling, NVFP4Scaling

LAYERS, SIZE = 3, 64
RNG = np.random.default_rng(7)
NAMES = [f"w{i}" for i in range(LAYERS)]
PARAMETERS = {name: (RNG.standard_normal((SIZE, SIZE)) / 8).astype(np.float32) for name in NAMES}
PARAMETERS["w1"] = np.sign(PARAMETERS["w1"]).astype(np.float32)  # exact in any format
X = RNG.standard_normal((8, SIZE)).astype(np.float32)
RECIPES = {
    "mxfp8": MXScaling(scale_rounding="ceil"),
    "mxfp6": MXScaling("f6E2M3FN"),
    "nvfp4": NVFP4Scaling(),
}


def chain() -> str:
    arguments = ", ".join(
        f'%w{i}: tensor<{SIZE}x{SIZE}xf32> {{mlir_fp8.name = "w{i}"}}' for i in range(LAYERS)
    )
    lines = "\n".join(
        f"  %h{i + 1} = stablehlo.dot_general %h{i}, %w{i}, contracting_dims = [1] x [0]"
        f" : (tensor<8x{SIZE}xf32>, tensor<{SIZE}x{SIZE}xf32>) -> tensor<8x{SIZE}xf32>"
        for i in range(LAYERS)
    )
    result = f"tensor<8x{SIZE}xf32>"
    head = f"func.func @main({arguments}, %h0: {result}) -> {result} {{"
    return f"{head}\n{lines}\n  return %h{LAYERS} : {result}\n}}"


@pytest.fixture(scope="module")
def trial() -> mlir_fp8.FormatTrial:
    return mlir_fp8.FormatTrial(chain(), RECIPES, [X], PARAMETERS, weights=["w*"], wide=[])


def quantized(formats: dict[str, str | None]) -> float:
    """The SQNR of a module that is quantized once for each format."""
    module, prepared = mlir_fp8.load(chain()), dict(PARAMETERS)
    made = None
    for name, recipe in RECIPES.items():
        if chosen := [each for each in NAMES if formats[each] == name]:
            made = mlir_fp8.quantize(module, recipe, weights=chosen, wide=[])
            module = made.module
            prepared |= made.prepare({each: PARAMETERS[each] for each in chosen})
    assert made is not None
    (found,) = mlir_fp8.compile(module)(*made.arguments(prepared, X))
    exact = X.astype(np.float64)
    for name in NAMES:
        exact = exact @ PARAMETERS[name]
    return 10 * math.log10(np.square(exact).sum() / np.square(found - exact).sum())


@pytest.mark.parametrize(
    "formats", [("mxfp8", None, "nvfp4"), ("nvfp4", "mxfp6", "mxfp8"), ("mxfp6",) * 3]
)
def test_a_trial_is_the_quantized_module(
    trial: mlir_fp8.FormatTrial, formats: tuple[str | None, ...]
) -> None:
    chosen = dict(zip(NAMES, formats, strict=True))
    assert trial.measured(chosen)[0] == pytest.approx(quantized(chosen), abs=0.05)


def test_bytes_are_those_of_codes_and_scales(trial: mlir_fp8.FormatTrial) -> None:
    elements = SIZE * SIZE
    assert trial.bytes_of({}) == LAYERS * elements * 4
    chosen = {"w0": "mxfp8", "w1": "mxfp6", "w2": "nvfp4"}
    assert trial.bytes_of(chosen) == elements * (1 + 1 / 32 + 6 / 8 + 1 / 32 + 1 / 2 + 1 / 16)


@pytest.mark.parametrize("target", [17.0, 22.0, 27.0, 60.0])
def test_no_choice_that_is_good_enough_is_smaller(
    trial: mlir_fp8.FormatTrial, target: float
) -> None:
    def is_good(each: tuple[str | None, ...]) -> bool:
        return trial.measured(dict(zip(NAMES, each, strict=True)))[0] >= target

    all_choices = product((None, *RECIPES), repeat=LAYERS)
    least = min(
        trial.bytes_of(dict(zip(NAMES, each, strict=True))) for each in all_choices if is_good(each)
    )
    try:
        choice = trial.choose(target)
    except Fp8Error as error:
        assert "no layer can be in any of the formats" in str(error)
        assert least == trial.bytes_of({})
        return
    assert choice.sqnr >= target and choice.sqnr == trial.measured(choice.formats)[0]
    assert choice.bytes == least
    listed = [name for each in (None, *RECIPES) for name in choice.weights_in(each)]
    assert sorted(listed) == NAMES


def test_costs_are_of_each_layer_alone(trial: mlir_fp8.FormatTrial) -> None:
    costs = trial.costs()
    assert list(costs) == NAMES and list(costs["w0"]) == list(RECIPES)
    assert costs["w0"]["mxfp8"] > costs["w0"]["nvfp4"]
    assert costs["w0"]["mxfp6"] == trial.measured({"w0": "mxfp6"})[0]


def test_recipes_with_state_and_none_are_refused() -> None:
    for recipes, reason in (({}, "recipes has none"), ({"d": "delayed"}, "recipe has state")):
        with pytest.raises(Fp8Error, match=reason):
            mlir_fp8.FormatTrial(chain(), recipes, [X], PARAMETERS, weights=["w*"])
