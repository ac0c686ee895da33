"""Start-up: import, and the tools on ten lines, each in a new process."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bytecode import kept_in
from benchmarks.cases import OURS, Case, Contender, Sample, WrongValueError, checks_itself
from benchmarks.plan import Plan

ROUNDS = (9, 9)
TEN_LINES = """\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.multiply %0, %b : tensor<4xf32>
  %2 = stablehlo.subtract %1, %a : tensor<4xf32>
  %3 = stablehlo.maximum %2, %a : tensor<4xf32>
  %4 = stablehlo.abs %3 : tensor<4xf32>
  %5 = stablehlo.add %4, %4 : tensor<4xf32>
  %6 = stablehlo.convert %5 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %6 : tensor<4xf8E4M3FN>
}
"""


def cases(plan: Plan) -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        bytecode = kept_in(str(Path(folder) / "bytecode"))
        file = Path(folder) / "ten_lines.mlir"
        file.write_text(TEN_LINES)

        def tool(name: str, *arguments: str) -> list[str]:
            return [sys.executable, "-m", f"mlir_fp8.tools.{name}", *arguments]

        def case(name: str, command: list[str], *others: Contender) -> Case:
            ours = _process(OURS, command, bytecode | {"MLIR_FP8_CACHE": "off"})
            return Case(name, (ours, *others), rounds=ROUNDS)

        python = [sys.executable, "-c"]
        bare = _process("python alone", [*python, "print(1)"], bytecode)
        yield case("import", [*python, "import mlir_fp8; print(mlir_fp8.__name__)"], bare)
        yield case("fp8-opt --help", tool("opt", "--help"))
        for name in ("--canonicalize", "--float-normalization"):
            yield case(f"fp8-opt {name}, ten lines", tool("opt", str(file), name))
        run = tool("run", str(file), "--random", "0")
        cache = {"MLIR_FP8_CACHE": "on", "MLIR_FP8_CACHE_DIR": folder}
        cached = _process(f"{OURS}, cached", run, bytecode | cache)
        cached.run()  # fills the cache
        yield case("fp8-run, ten lines", run, cached)


def _process(name: str, command: list[str], switches: dict[str, str]) -> Contender:
    def run() -> Sample:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(
            command, env=os.environ | switches, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode or not done.stdout:
            raise WrongValueError(f"{' '.join(command[2:])}: {done.stderr.strip() or 'no output'}")
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Sample(seconds, {"processor s": used})

    return Contender(name, run, checks_itself)
