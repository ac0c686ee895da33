"""`fp8.update_scale` against its table: recipes, algorithms, margins, and amaxes of no use."""

from itertools import product

import numpy as np
import pytest
from fp8_programs import element, run, same_bits
from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.float_formats import FORMATS

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
