"""Small programs of one kind of work each (benchmarks/modules/, as JAX writes them)."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.cases import Case, Check
from benchmarks.engines import engines
from benchmarks.plan import Plan
from benchmarks.values import Agreement, near

PROGRAMS = Path(__file__).parent.parent / "modules"
ROWS = (64, 8192)
"""In cache, and out of it."""
QUICK_ROWS = (8,)
QUICK = ("gelu", "row_sum")
TOLERANCE = 1e-4


def cases(plan: Plan) -> Iterator[Case]:
    """Checked by XLA:CPU, else by the interpreter, to which the larger size is too much."""
    programs = sorted(file.stem for file in PROGRAMS.glob("*.mlir"))
    rows = QUICK_ROWS if plan.quick else ROWS if "xla" in plan.peers else ROWS[:1]
    for name in QUICK if plan.quick else programs:
        for count in rows:
            text = (PROGRAMS / f"{name}.mlir").read_text().replace("ROWS", str(count))
            yield _case(name, text, f"{count} rows", plan)


def _case(name: str, text: str, size: str, plan: Plan) -> Case:
    arguments = made_up(text)
    check = _judge(text, arguments, plan)
    # XLA:CPU first: with its results the others' are compared.
    ordered = sorted(engines(plan), key=lambda engine: engine.name != "XLA:CPU")
    contenders = (
        engine.contender(text, arguments, check(is_strict=engine.is_strict)) for engine in ordered
    )
    return Case(name, tuple(contenders), size)


def _judge(text: str, arguments: list[np.ndarray], plan: Plan) -> Callable[..., Check]:
    if "xla" in plan.peers:
        return Agreement(TOLERANCE).check
    import mlir_fp8

    return functools.partial(near, mlir_fp8.interpret(mlir_fp8.load(text), *arguments), TOLERANCE)


def made_up(text: str) -> list[np.ndarray]:
    """Arguments for the program: numbers about 1 in size, indices below 1024."""
    import mlir_fp8
    from mlir_fp8.compiling.entry import entry_signature

    rng = np.random.default_rng(0)
    arguments, _ = entry_signature(mlir_fp8.load(text))
    return [
        rng.integers(0, 1024, spec.shape).astype(spec.dtype)
        if spec.dtype.kind == "i"
        else rng.standard_normal(spec.shape, np.float32).astype(spec.dtype)
        for spec in arguments
    ]
