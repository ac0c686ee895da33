"""Runs a step of artifact_steps.py in a process of its own, and samples what memory it holds."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bars import PEAK
from benchmarks.cases import Sample, WrongValueError

ROOT = Path(__file__).parent.parent
MIB = 1 << 20


def step_sample(step: str, file: Path, size: int) -> Sample:
    """Seconds, and memory at the peak (proportional set size), of one step."""
    command = [sys.executable, "-m", "benchmarks.artifact_steps", step, str(file), str(size)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as run:
        assert run.stdin and run.stdout
        if run.stdout.readline() != "begin\n":
            raise WrongValueError(f"{step} does not begin")
        with sampled(run.pid) as peak:
            run.stdin.write("go\n")
            run.stdin.flush()
            seconds = run.stdout.readline()
        if run.stdout.read() != "checked\n" or run.wait() != 0:
            raise WrongValueError(f"{step} of {size} MiB")
    most = max(peak)
    return Sample(float(seconds), {"MiB at the peak": most / MIB, PEAK: most / file.stat().st_size})


@contextlib.contextmanager
def sampled(process: int) -> Iterator[list[int]]:
    """Bytes that a process and its children hold together, over time."""
    seen: list[int] = [held(process)]
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.005):
            seen.append(held(process))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield seen
    finally:
        stop.set()
        sampler.join()


def held(process: int) -> int:
    """Bytes that a process and its children hold now, 0 of those that have ended."""
    total = 0
    with contextlib.suppress(OSError):
        folder = Path(f"/proc/{process}")
        rollup = (folder / "smaps_rollup").read_text()
        total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        for child in (folder / "task" / str(process) / "children").read_text().split():
            total += held(int(child))
    return total
