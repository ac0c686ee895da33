"""Programs of each of several devices, and StableHLO's interpreter that runs them side by side."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.interpreter.run import register_interpreter_dialect

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GLOBAL = f"{CHANNEL}, use_global_device_ids"


def attribute(name: str, rows: list[list[int]]) -> str:
    """`name = dense<...>` of a matrix of i64."""
    columns = len(rows[0]) if rows else 2
    return f"{name} = dense<{rows or ''}> : tensor<{len(rows)}x{columns}xi64>"


def groups(rows: list[list[int]], channel: str = "") -> str:
    """`replica_groups`, with a channel or without."""
    return ", ".join(filter(None, [channel, attribute("replica_groups", rows)]))


def reducer(op: str = "add", element: str = "i64") -> str:
    """A body of one op."""
    return f"""({{
    ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
      %s = stablehlo.{op} %x, %y : tensor<{element}>
      stablehlo.return %s : tensor<{element}>
  }})"""


@dataclass(frozen=True)
class Program:
    """A function `@main` of one tensor, for `grid` replicas and partitions."""

    lines: str
    """%a is the argument, %r the result."""
    takes: str
    gives: str
    grid: tuple[int, int]

    @property
    def text(self) -> str:
        return f"""func.func @main(%a: tensor<{self.takes}>) -> tensor<{self.gives}> {{
  {self.lines}
  return %r : tensor<{self.gives}>
}}
"""

    def simulated(self, arrays: np.ndarray) -> np.ndarray:
        """The results of the devices, one after the other, by native code."""
        return mlir_fp8.compile(self.text, simulate_devices=self.grid)(arrays)[0]

    def interpreted(self, arrays: np.ndarray) -> np.ndarray:
        """As `simulated`, by `interpreter.run_parallel`."""
        replicas, partitions = self.grid
        count = replicas * partitions
        rows = ", ".join(f"[{', '.join(['@device'] * partitions)}]" for _ in range(replicas))
        arguments = ", ".join(f"%a{n}: tensor<{self.takes}>" for n in range(count))
        given = ", ".join(f"%a{n}" for n in range(count))
        takes, gives = (", ".join([f"tensor<{each}>"] * count) for each in (self.takes, self.gives))
        results = ", ".join(f"%0#{n}" if count > 1 else "%0" for n in range(count))
        many = f":{count}" if count > 1 else ""
        main = f"""func.func @main({arguments}) -> ({gives}) {{
  %0{many} = "interpreter.run_parallel"({given}) {{programs = [{rows}]}} : ({takes}) -> ({gives})
  return {results} : {gives}
}}
"""
        context = make_context()
        register_interpreter_dialect(context)
        device = self.text.replace("func.func @main", "func.func private @device")
        module = mlir_fp8.load(main + device, context=context)
        return np.stack(mlir_fp8.interpret(module, *arrays))


_ATTEMPTS = 4
_MANY_CORES = """#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
  (void)pid;
  memset(set, 0, size);
  for (int core = 0; core < 16; ++core) CPU_SET_S(core, size, set);
  return 0;
}
"""
"""The interpreter has a thread for each core, and needs one for each device."""


def interpreted(programs: Sequence[tuple[Program, np.ndarray]]) -> list[np.ndarray]:
    """The results of each of `programs` on its arrays, in a process that has cores enough."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cores.c").write_text(_MANY_CORES)
        library, given, got = folder / "cores.so", folder / "given", folder / "got"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "cores.c"], check=True)
        given.write_bytes(pickle.dumps([(asdict(each), arrays) for each, arrays in programs]))
        environment = os.environ | {"LD_PRELOAD": str(library)}
        command = [sys.executable, __file__, given, got]
        # A device waits a few seconds for the others, which a busy machine may take longer for.
        for _ in range(_ATTEMPTS - 1):
            if subprocess.run(command, check=False, env=environment).returncode == 0:
                break
        else:
            subprocess.run(command, check=True, env=environment)
        return pickle.loads(got.read_bytes())


if __name__ == "__main__":
    listed = pickle.loads(Path(sys.argv[1]).read_bytes())
    results = [Program(**each).interpreted(arrays) for each, arrays in listed]
    Path(sys.argv[2]).write_bytes(pickle.dumps(results))
