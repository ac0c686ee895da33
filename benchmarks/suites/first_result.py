"""From a portable artifact to the first result, each in a new process.

"imports" is what it takes until the contender could start: numpy, the arguments, and the modules of
its compiler (which ours else imports when it first compiles; from the cache it needs none). The
seconds measured are those of reading the artifact, compiling and one call; "processor" those of all
its threads together. XLA:CPU compiles through jax.export, without excess precision.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bytecode import kept_in
from benchmarks.cases import OURS, Case, Contender, Sample, WrongValueError, checks_itself
from benchmarks.plan import Plan
from benchmarks.suites import models

ROUNDS = (5, 5)
_COMMON = """
import json, os, sys, time
started = time.perf_counter()
cores = int(sys.argv.pop())
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
import numpy as np
from mlir_fp8.arrays.tensor_specs import TensorSpec, element_name, restored
artifact, given, wanted = sys.argv[1:]
arguments = [array for _, array in restored(np.load(given))]
expected = [array for _, array in restored(np.load(wanted))]
"""
_COMPILER = """
from mlir_fp8.compiling import execution
"""
_OURS = """
import mlir_fp8
mlir_fp8.compile
ready, processor = time.perf_counter(), time.process_time()
results = mlir_fp8.compile(artifact)(*arguments)
"""
_XLA = """
import jax, jax.export
from mlir_fp8.judging import xla_worker
jax.devices("cpu")
specs = [TensorSpec(array.shape, element_name(array.dtype)) for array in expected]
ready, processor = time.perf_counter(), time.process_time()
results = xla_worker._execute(open(artifact, "rb").read(), arguments, specs)
"""
_REPORT = """
ended = time.perf_counter()
used = time.process_time() - processor
errors = [
    float(np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want.astype(np.float64)))
    for got, want in zip(results, expected, strict=True)
]
print(json.dumps([ready - started, ended - ready, used, max(errors)]))
"""


def cases(plan: Plan) -> Iterator[Case]:
    threads = plan.threads[-1]
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder) / "code")

        def contender(who: str, name: str, program: str, switch: str) -> Contender:
            switches = {"MLIR_FP8_CACHE": switch, "MLIR_FP8_CACHE_DIR": cache}
            switches |= kept_in(str(Path(folder) / "bytecode"))
            command = [sys.executable, "-c", _COMMON + program + _REPORT, *_files(name)]
            return Contender(
                who,
                lambda: _started([*command, str(threads)], os.environ | switches),
                checks_itself,
                threads,
            )

        for name in models.names(plan):
            contenders = [
                contender(f"{OURS}, cold", name, _COMPILER + _OURS, "off"),
                contender(f"{OURS}, cached", name, _OURS, "on"),
            ]
            contenders[1].run()  # fills the cache
            if "xla" in plan.peers:
                contenders.append(contender("XLA:CPU", name, _XLA, "off"))
            yield Case(name, tuple(contenders), rounds=ROUNDS)


def _files(name: str) -> list[str]:
    return [str(models.FOLDER / f"{name}{end}") for end in (".mlirbc", ".in.npz", ".out.npz")]


def _started(command: list[str], surroundings: dict[str, str]) -> Sample:
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    imports, seconds, processor, error = json.loads(done.stdout.splitlines()[-1])
    if not error <= models.TOLERANCE:
        raise WrongValueError(f"{Path(command[-4]).name} gives results off by {error:.2e}")
    return Sample(seconds, {"imports s": imports, "processor s": processor})
