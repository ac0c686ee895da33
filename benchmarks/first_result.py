"""From a portable artifact to the first result, in new processes: cold, from the cache, XLA:CPU.

    python benchmarks/first_result.py [--rounds 5]

Each round starts one process per contender, in turn; medians. "imports" is what it takes until the
contender could start, numpy and the arguments included; "first result" is reading the artifact,
compiling and one call. Processor seconds of all threads are beside it, since a busy machine
stretches the others. XLA:CPU compiles through jax.export, without excess precision, and is skipped
by name where jax is not installed. Results are checked in the same run.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).parent.parent / "test" / "models"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
_COMMON = """
import json, os, sys, time
started = time.perf_counter()
import numpy as np
from mlir_fp8.arrays import TensorSpec, element_name, restored
artifact, given, wanted = sys.argv[1:]
arguments = [array for _, array in restored(np.load(given))]
expected = [array for _, array in restored(np.load(wanted))]
"""
_OURS = """
import mlir_fp8
mlir_fp8.compile
ready, processor = time.perf_counter(), time.process_time()
results = mlir_fp8.compile(artifact)(*arguments)
"""
_XLA = """
import jax, jax.export
from mlir_fp8 import xla_worker
jax.devices("cpu")
specs = [TensorSpec(array.shape, element_name(array.dtype)) for array in expected]
ready, processor = time.perf_counter(), time.process_time()
results = xla_worker._execute(open(artifact, "rb").read(), arguments, specs)
"""
_REPORT = """
ended = time.perf_counter()
used = time.process_time() - processor
for got, want in zip(results, expected, strict=True):
    got, want = got.astype(np.float64), want.astype(np.float64)
    assert np.linalg.norm(got - want) <= 1e-5 * np.linalg.norm(want), "other values"
print(json.dumps([ready - started, ended - ready, used]))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="From artifact to first result.")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    contenders = {"mlir-fp8, cold": (_OURS, "off"), "mlir-fp8, from the cache": (_OURS, "on")}
    if importlib.util.find_spec("jax") is None:
        print("XLA:CPU is skipped: jax is not installed")
    else:
        contenders["XLA:CPU"] = (_XLA, "off")
    with tempfile.TemporaryDirectory() as cache:
        for name in NAMES:
            _run(name, _OURS, "on", cache)  # fills the cache
            rows: dict[str, list[list[float]]] = {who: [] for who in contenders}
            for _ in range(options.rounds):
                for who, (program, switch) in contenders.items():
                    rows[who].append(_run(name, program, switch, cache))
            _print(name, rows)
    return 0


def _run(name: str, program: str, switch: str, cache: str) -> list[float]:
    files = [str(MODELS / f"{name}{suffix}") for suffix in (".mlirbc", ".in.npz", ".out.npz")]
    surroundings = os.environ | {"MLIR_FP8_CACHE": switch, "MLIR_FP8_CACHE_DIR": cache}
    command = [sys.executable, "-c", _COMMON + program + _REPORT, *files]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def _print(name: str, rows: dict[str, list[list[float]]]) -> None:
    print(f"{name}, seconds, median of {len(next(iter(rows.values())))} processes in turn")
    for who, measured in rows.items():
        imports, result, used = (
            statistics.median(column) for column in zip(*measured, strict=True)
        )
        print(f"  {who:26}imports {imports:6.3f}   first result {result:6.3f}", end="")
        print(f"   processor {used:6.3f}")


if __name__ == "__main__":
    sys.exit(main())
