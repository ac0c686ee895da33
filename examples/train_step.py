"""The whole lowering of a real program: an FP8 transformer training step, from MHLO to its loss.

MHLO text to StableHLO, to a portable artifact and back, to linalg, to the LLVM dialect, to native
code, and one step run, with the size and the time of every stage.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored

MODELS = Path(__file__).parent.parent / "test" / "models"
TARGET = "1.0.0"

T = TypeVar("T")


def main() -> int:
    stages: list[tuple[str, float, str]] = []

    def timed(name: str, work: Callable[[], T], size: Callable[[T], str]) -> T:
        started = time.perf_counter()
        result = work()
        stages.append((name, time.perf_counter() - started, size(result)))
        return result

    source = MODELS / "transformer_train_step.mhlo.mlir"
    stages.append(("MHLO text", 0.0, _bytes(source.stat().st_size)))
    module = timed("to StableHLO", lambda: mlir_fp8.load(source), lambda m: _bytes(len(str(m))))
    artifact = timed(
        f"to artifact {TARGET}",
        lambda: mlir_fp8.serialize(module, TARGET),
        lambda data: _bytes(len(data)),
    )
    module = timed(
        "artifact read back",
        lambda: mlir_fp8.deserialize(artifact),
        lambda m: _bytes(len(str(m))),
    )
    step = mlir_fp8.compile(
        module,
        on_stage=lambda name, seconds, m: stages.append((name, seconds, _bytes(len(str(m))))),
    )
    arguments = [array for _, array in restored(np.load(MODELS / "transformer_train_step.in.npz"))]
    results = timed(
        "one step run", lambda: step(*arguments), lambda r: _bytes(sum(x.nbytes for x in r))
    )
    expected = np.load(MODELS / "transformer_train_step.out.npz")["res0"]
    for name, seconds, size in stages:
        print(f"{name:22}{size:>12}{seconds:10.3f} s")
    print(f"loss {results[0]:.6f}, from XLA:CPU {expected:.6f}")
    return 0


def _bytes(count: int) -> str:
    return f"{count:,} B"


if __name__ == "__main__":
    sys.exit(main())
