"""Portable artifacts: what isolation costs, time and memory of a large one.

The large module holds f8 and bf16 weights as constants. Each step runs in a process of its own
(../artifact_steps.py); its peak is that of all processes of the step together.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.artifact_processes import step_sample
from benchmarks.cases import OURS, Case, Contender, WrongValueError, checks_itself
from benchmarks.plan import Plan
from benchmarks.suites import models

USUAL, QUICK = 1024, 4
"""MiB."""
ROUNDS = (2, 2)


def cases(plan: Plan) -> Iterator[Case]:
    for name in models.names(plan):
        yield _reading(name)
    size = QUICK if plan.quick else USUAL
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.mlirbc"
        for step in ("write", "read", "inspect"):  # the first makes what the others take
            contenders = (
                _step(OURS, step, file, size),
                _step("copy", "copy", file, size),
            )
            yield Case(f"{step} {size} MiB of weights", contenders, rounds=ROUNDS)


def _step(name: str, step: str, file: Path, size: int) -> Contender:
    return Contender(name, lambda: step_sample(step, file, size), checks_itself)


def _reading(name: str) -> Case:
    """By the library alone, and by ours, which does so in a forked child."""
    from torch_mlir._mlir_libs import _stablehlo

    import mlir_fp8
    from mlir_fp8.base.context import make_context

    data = (models.FOLDER / f"{name}.mlirbc").read_bytes()
    wanted = str(_stablehlo.deserialize_portable_artifact(make_context(), data))

    def check(module: Any) -> Mapping[str, float]:
        if str(module) != wanted:
            raise WrongValueError("another module")
        return {}

    library = Contender(
        "library", lambda: _stablehlo.deserialize_portable_artifact(make_context(), data), check
    )
    ours = Contender(OURS, lambda: mlir_fp8.deserialize(data), check)
    return Case(f"read {name}", (ours, library), rounds=(9, 31), starts_processes=True)
