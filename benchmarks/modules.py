"""Small programs, one kind of work each, beside XLA:CPU in the same run.

Run `python benchmarks/modules.py [NAME ...]`: those of benchmarks/modules/, as JAX writes them, at
two sizes, in cache and out of it, and the models under test/models. Ours runs on one thread and on
all; XLA:CPU on all, its arguments already on its device. Medians of alternating runs; each result
is checked against XLA's. Needs `pip install '.[xla]'`.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Rounding where the module says so, as ours does.
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")

import numpy as np
import peers

import mlir_fp8
from mlir_fp8.arrays import TensorSpec, restored
from mlir_fp8.execution import entry_signature

PROGRAMS = Path(__file__).parent / "modules"
MODELS = Path(__file__).parent.parent / "test" / "models"
MODEL_NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
ROWS = (64, 8192)
LEAST_SECONDS = 0.25
"""That each program is measured for, at least 5 and at most 51 times."""
Program = Callable[[], Sequence[np.ndarray]]


def main(names: Sequence[str]) -> int:
    xla = xla_cpu()
    if xla is None:
        print("error: jax is not installed: pip install '.[xla]'", file=sys.stderr)
        return 1
    print(
        f"{'program':26}{'rows':>6}{'1 thread':>11}{'threads':>11}{'XLA:CPU':>11}  us; ours / XLA"
    )
    ratios: list[tuple[float, float]] = []
    for name in names or sorted(file.stem for file in PROGRAMS.glob("*.mlir")):
        if name in MODEL_NAMES:
            continue
        for rows in ROWS:
            text = (PROGRAMS / f"{name}.mlir").read_text().replace("ROWS", str(rows))
            ratios.append(measure(name, str(rows), text, made_up(text), xla))
    for name in MODEL_NAMES:
        if names and name not in names:
            continue
        arguments = [array for _, array in restored(np.load(MODELS / f"{name}.in.npz"))]
        ratios.append(measure(name, "", (MODELS / f"{name}.mlir").read_text(), arguments, xla))
    one, all_ = (statistics.geometric_mean(column) for column in zip(*ratios, strict=True))
    print(f"{'geometric mean':65}  x{one:.2f} one thread  x{all_:.2f} all")
    return 0


def made_up(text: str) -> list[np.ndarray]:
    """Arguments for the program: numbers about 1 in size, indices below 1024."""
    rng = np.random.default_rng(0)

    def array(spec: TensorSpec) -> np.ndarray:
        if spec.dtype.kind == "i":
            return rng.integers(0, 1024, spec.shape).astype(spec.dtype)
        return rng.standard_normal(spec.shape, np.float32).astype(spec.dtype)

    arguments, _ = entry_signature(mlir_fp8.load(text))
    return [array(spec) for spec in arguments]


def measure(
    name: str,
    rows: str,
    text: str,
    arguments: list[np.ndarray],
    xla: Callable[[str, list[np.ndarray]], Program],
) -> tuple[float, float]:
    alone, shared = mlir_fp8.compile(text, threads=1), mlir_fp8.compile(text)
    programs: list[Program] = [
        lambda: alone(*arguments),
        lambda: shared(*arguments),
        xla(text, arguments),
    ]
    first, second, expected = (program() for program in programs)
    for index, (result, same, wanted) in enumerate(zip(first, second, expected, strict=True)):
        check(f"{name}: result {index}", result, np.asarray(wanted))
        if result.tobytes() != same.tobytes():
            raise SystemExit(f"{name}: result {index} depends on the number of threads")
    seconds: list[list[float]] = [[] for _ in programs]
    while len(seconds[0]) < 5 or (sum(map(sum, seconds)) < LEAST_SECONDS and len(seconds[0]) < 51):
        for program, times in zip(programs, seconds, strict=True):
            started = time.perf_counter()
            program()
            times.append(time.perf_counter() - started)
    one, all_, peer = map(statistics.median, seconds)
    line = f"{name:26}{rows:>6}" + "".join(f"{1e6 * s:11.1f}" for s in (one, all_, peer))
    print(f"{line}  x{one / peer:.2f} x{all_ / peer:.2f}", flush=True)
    return one / peer, all_ / peer


def check(what: str, got: np.ndarray, wanted: np.ndarray) -> None:
    if got.dtype.kind in "iub":
        if not np.array_equal(got, wanted):
            raise SystemExit(f"{what} differs")
        return
    exact = wanted.astype(np.float64)
    error = np.linalg.norm(got.astype(np.float64) - exact) / max(np.linalg.norm(exact), 1e-30)
    if not error <= 1e-4:
        raise SystemExit(f"{what} is off by {error:.2e}")


def xla_cpu() -> Callable[[str, list[np.ndarray]], Program] | None:
    jax, xla = peers.optional("jax"), peers.xla_cpu()
    if xla is None:
        return None

    def compile_(text: str, arguments: list[np.ndarray]) -> Program:
        execute = xla(text)
        placed = [jax.block_until_ready(jax.device_put(array)) for array in arguments]

        def run() -> Sequence[Any]:
            return [each.block_until_ready() for each in execute(placed)]

        return run

    return compile_


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
