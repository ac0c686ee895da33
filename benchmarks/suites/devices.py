"""Several devices of XLA:CPU: what goes over the wire in bf16 or f32, and in FP8.

A layer of each way to share a model (benchmarks/devices/programs.py), before and after
`fp8-quantize-collectives`. Devices are of one process, whose wire is memory: bytes are those of a
real one, times are not.
"""

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cases import OURS, Case, Contender, Sample, WrongValueError, checks_itself
from benchmarks.plan import Plan

COUNTS, QUICK_COUNTS = (2, 4, 8), (2,)
ROUNDS = (3, 11)


def cases(plan: Plan) -> Iterator[Case]:
    """Of each program on each number of devices; without XLA:CPU as a peer, ours alone."""
    served = _Served(QUICK_COUNTS if plan.quick else COUNTS, is_quick=plan.quick)
    for case in served.cases:
        key = case["name"], case["devices"]
        yield Case(
            case["name"],
            tuple(_contenders(served, key, "xla" in plan.peers)),
            f"{case['devices']} devices",
            rounds=ROUNDS,
            starts_processes=True,
        )


def _make(folder: Path, counts: Sequence[int], *, is_quick: bool) -> None:
    """In a process of its own, which has as many devices."""
    listed = ",".join(map(str, counts))
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "devices",
        "make",
        str(folder),
        f"--devices={listed}",
    ]
    subprocess.run(
        [*command, *(["--quick"] if is_quick else [])], check=True, stdout=subprocess.DEVNULL
    )


class _Served:
    """run.py in a folder of its own, which answers as it is asked, as long as this lives."""

    def __init__(self, counts: Sequence[int], *, is_quick: bool) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mlir-fp8-")
        folder = Path(self._folder.name)
        _make(folder, counts, is_quick=is_quick)
        self.cases: list[dict[str, Any]] = json.loads((folder / "index.json").read_text())["cases"]
        self._process = subprocess.Popen(
            [sys.executable, str(folder / "run.py"), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"JAX_PLATFORMS": "cpu"},
        )
        weakref.finalize(self, _end, self._process)

    def __call__(self, key: tuple[str, int], variant: str) -> Mapping[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([*key, variant]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the process of the devices died"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def _end(process: "subprocess.Popen[str]") -> None:
    with process:
        process.kill()


def _contenders(ask: _Served, key: tuple[str, int], has_peer: bool) -> Iterator[Contender]:
    sides = {"XLA:CPU": "before", OURS: "after"} if has_peer else {OURS: "after"}
    for name, variant in sides.items():
        yield Contender(name, _run(ask, key, variant), checks_itself, threads=key[1])


def _run(ask: _Served, key: tuple[str, int], variant: str) -> Any:
    def run() -> Sample:
        answer = ask(key, variant)
        notes = {"MB sent": answer["sent"] / 1e6, "rel L2": answer["distance"]}
        if answer["distance"] > answer["bound"]:
            raise WrongValueError(f"{answer['distance']:.3g} from those before")
        return Sample(answer["seconds"], notes)

    return run
