"""`fp8.update_scale` against its table: recipes, algorithms, margins, and amaxes of no use."""

from itertools import product

import numpy as np
import pytest
from fp8_programs import element, run, same_bits
from fp8_refusals import refusal_of
from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.scaling_recipes import RECIPES

F32 = np.float32
AMAXES = [3.7, 0.0, np.inf, np.nan, -1.0, 1e-39, 2.0**-126 * 448, 3e38, 448.0]
HISTORIES = [[2.0, 5.5, 0.25, 1.0], [0.0], [1.0, np.nan, np.inf]]
FORMS = [
    (recipe, algorithm, margin)
    for recipe, algorithm in [
        *product(["flax", "transformer_engine"], [None, "max", "most_recent"]),
        ("current", None),
    ]
    for margin in (0.0, -1.5)
]


def _expected(
    form: tuple[str, str | None, float], fmt: str, scale: F32, history: np.ndarray, amax: F32
) -> tuple[np.ndarray, np.ndarray]:
    recipe, algorithm, margin = form
    seen = history.copy()
    if recipe == "transformer_engine":
        seen[0] = amax
    new_history = np.roll(seen, -1)
    new_history[0] = 0 if recipe == "transformer_engine" else amax
    kept = F32(1) if recipe == "current" else scale
    wanted = amax if recipe == "current" else seen[0]
    if recipe != "current" and algorithm != "most_recent":
        wanted = np.max(seen)
    with np.errstate(all="ignore"):
        new = F32(F32(wanted) / F32(float(FORMATS[fmt].max))) * F32(2.0**margin)
    is_good = 2.0**-126 <= new < np.inf
    return np.asarray(new if is_good else kept, F32), new_history


def test_every_recipe_is_tried() -> None:
    assert {recipe for recipe, _, _ in FORMS} == RECIPES.keys(), "add it to FORMS and _expected"


@pytest.mark.sampled(50)
@pytest.mark.parametrize("fmt", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("values", HISTORIES, ids=str)
def test_against_the_table(fmt: str, values: list[float]) -> None:
    history = np.asarray(values, F32)
    scale = F32(0.123)

    def body(scale: ir.Value, history: ir.Value, *amaxes: ir.Value) -> list[ir.Value]:
        results: list[ir.Value] = []
        for amax in amaxes:
            for recipe, algorithm, margin in FORMS:
                results += fp8.update_scale(
                    scale,
                    history,
                    amax,
                    element(fmt),
                    recipe=recipe,
                    algorithm=algorithm,
                    margin=margin,
                )
        return results

    amaxes = [np.asarray(amax, F32) for amax in AMAXES]
    types = ["f32", f"{len(values)}xf32", *["f32"] * len(amaxes)]
    results = iter(run(types, body, np.asarray(scale), history, *amaxes))
    for amax in amaxes:
        for form in FORMS:
            want = _expected(form, fmt, scale, history, F32(amax))
            for got, wanted in zip((next(results), next(results)), want, strict=True):
                assert same_bits(got, wanted), (form, amax, got, wanted)


F32_TENSOR = "tensor<f32>"
H = "tensor<16xf32>"
FLAX = 'recipe = "flax", format = f8E4M3FN'
CURRENT = 'recipe = "current", format = f8E4M3FN'


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("format = f8E5M2", 'needs the attribute recipe, one of "flax"'),
        ('recipe = "flax"', "needs the attribute format, one of the types"),
        ('recipe = "mx", format = f8E5M2', 'has recipe = "mx": it is one of "flax"'),
        ('recipe = "flax", format = f32', "has format = f32: it is one of the types"),
        (f'{FLAX}, algorithm = "min"', 'it is one of "max", "most_recent"'),
        (f"{FLAX}, margin = 1.0 : f64", "it is a float of f32"),
        (f"{FLAX}, margin = 127.0 : f32", "it is between -126 and 126"),
        (f"{FLAX}, margin = 0x7FC00000 : f32", "it is between -126 and 126"),
        (f"{FLAX}, eps = 1.0 : f32", "has no attribute eps, only recipe"),
        (f'{CURRENT}, algorithm = "max"', "the recipe current has none of: drop it"),
    ],
)
def test_update_scale_attributes(attributes: str, reason: str) -> None:
    assert reason in refusal_of(
        "update_scale", [F32_TENSOR, H, F32_TENSOR], [F32_TENSOR, H], attributes
    )


@pytest.mark.parametrize(
    ("operands", "results", "reason"),
    [
        (
            [F32_TENSOR, H],
            [F32_TENSOR, H],
            "takes a scale, a history and an amax, and gives a new scale",
        ),
        (
            [F32_TENSOR, H, F32_TENSOR],
            [F32_TENSOR],
            "takes a scale, a history and an amax, and gives",
        ),
        (["tensor<bf16>", H, F32_TENSOR], [F32_TENSOR, H], "has scale of type tensor<bf16>"),
        ([F32_TENSOR, H, "tensor<1xf32>"], [F32_TENSOR, H], "has amax of type tensor<1xf32>"),
        ([F32_TENSOR, H, F32_TENSOR], ["tensor<bf16>", H], "has new_scale of type tensor<bf16>"),
        (
            [F32_TENSOR, F32_TENSOR, F32_TENSOR],
            [F32_TENSOR, F32_TENSOR],
            "has history of type tensor<f32>",
        ),
        ([F32_TENSOR, "tensor<0xf32>", F32_TENSOR], [F32_TENSOR, "tensor<0xf32>"], "with N >= 1"),
        ([F32_TENSOR, "tensor<?xf32>", F32_TENSOR], [F32_TENSOR, "tensor<?xf32>"], "with N >= 1"),
        (
            [F32_TENSOR, "tensor<16xbf16>", F32_TENSOR],
            [F32_TENSOR, "tensor<16xbf16>"],
            "it is a tensor<Nxf32>",
        ),
        (
            [F32_TENSOR, H, F32_TENSOR],
            [F32_TENSOR, "tensor<15xf32>"],
            "has new_history of type tensor<15xf32>",
        ),
    ],
)
def test_update_scale_types(operands: list[str], results: list[str], reason: str) -> None:
    assert reason in refusal_of("update_scale", operands, results, FLAX)
