"""The three real models: one call."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.bars import MODELS
from benchmarks.cases import Case
from benchmarks.engines import engines
from benchmarks.plan import Plan
from benchmarks.values import near

FOLDER = Path(__file__).parent.parent.parent / "test" / "models"
TOLERANCE = 1e-5
"""In relative L2, of results that XLA:CPU gave without excess precision."""


def names(plan: Plan) -> tuple[str, ...]:
    """The models that a run measures."""
    return MODELS[:1] if plan.quick else MODELS


def text_of(name: str) -> str:
    """The model as StableHLO."""
    return (FOLDER / f"{name}.mlir").read_text()


def arrays_of(name: str, which: str) -> list[np.ndarray]:
    """Its arguments ("in") or expected results ("out")."""
    from mlir_fp8.arrays.tensor_specs import restored

    return [array for _, array in restored(np.load(FOLDER / f"{name}.{which}.npz"))]


def cases(plan: Plan) -> Iterator[Case]:
    for name in names(plan):
        text, arguments = text_of(name), arrays_of(name, "in")
        wanted = arrays_of(name, "out")
        contenders = (
            engine.contender(text, arguments, near(wanted, TOLERANCE, is_strict=engine.is_strict))
            for engine in engines(plan)
        )
        yield Case(name, tuple(contenders))
