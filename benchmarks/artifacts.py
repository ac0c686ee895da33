"""Portable artifacts: what isolation costs, and time and peak memory of a large one.

Run `python benchmarks/artifacts.py`, or with `--size 64` for a quick look. The large module holds
MIB of f8 and bf16 weights as constants. Each step runs in a process of its own; its peak is that of
all processes of the step together (proportional set size, sampled), beside a plain copy of the same
bytes. Values are checked: what is read is what was built.
"""

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.artifacts.artifact import artifact_version
from mlir_fp8.context import make_context

MODELS = Path(__file__).parent.parent / "test" / "models"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
CONSTANTS = 16
MIB = 1 << 20
# The bars: the peak in artifacts, seconds of --inspect, milliseconds of isolation.
PEAK, INSPECT, ISOLATION = 3.0, 1.0, 30.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024, metavar="MIB")
    parser.add_argument("--step", choices=tuple(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        STEPS[options.step](options.file, options.size)
        return 0
    misses = isolation() + large(options.size)
    for miss in misses:
        print(f"missed: {miss}")
    return bool(misses)


def isolation() -> list[str]:
    print("reading a good artifact, milliseconds (best of 31, alternating)")
    print(f"  {'':26}{'library':>10}{'mlir-fp8':>10}{'isolation':>11}")
    misses: list[str] = []
    for name in NAMES:
        data = (MODELS / f"{name}.mlirbc").read_bytes()
        bare: list[float] = []
        ours: list[float] = []
        for _ in range(31):
            bare.append(
                seconds(lambda d=data: _stablehlo.deserialize_portable_artifact(make_context(), d))
            )
            ours.append(seconds(lambda d=data: mlir_fp8.deserialize(d)))
        library, isolated = min(bare) * 1e3, min(ours) * 1e3
        cost = isolated - library
        print(f"  {name:26}{library:10.1f}{isolated:10.1f}{cost:11.1f}")
        if cost >= ISOLATION:
            misses.append(f"isolation of {name} costs {cost:.1f} ms, not under {ISOLATION:.0f}")
    return misses


def large(size: int) -> list[str]:
    print(f"{size} MiB of f8E4M3FN, f8E5M2 and bf16 weights, all processes of a step together")
    print(f"  {'':26}{'seconds':>10}{'MiB at peak':>13}{'artifacts':>11}")
    misses: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.mlirbc"
        for step in STEPS:
            took, peak = measured(step, file, size)
            ratio = peak / (file.stat().st_size / MIB)
            print(f"  {step:26}{took:10.2f}{peak:13.0f}{ratio:11.2f}", flush=True)
            # What Python and the libraries hold themselves is no small part of a small artifact.
            if ratio >= PEAK and size >= 512:
                misses.append(f"{step} holds {ratio:.2f} artifacts, not under {PEAK:.0f}")
            if step == "inspect" and took >= INSPECT:
                misses.append(f"inspect takes {took:.2f} s, not under {INSPECT:.0f}")
    return misses


def measured(step: str, file: Path, size: int) -> tuple[float, float]:
    """Seconds, and MiB at the peak, of one step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, "--file", str(file), "--size", str(size)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin and run.stdout
        if run.stdout.readline() != "begin\n":
            raise SystemExit(f"{step} failed")
        with sampled(run.pid) as peak:
            run.stdin.write("go\n")
            run.stdin.flush()
            took = run.stdout.readline()
        if run.stdout.read() != "checked\n" or run.wait() != 0:
            raise SystemExit(f"{step} failed")
    return float(took), max(peak) / MIB


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
    total = 0
    with contextlib.suppress(OSError):  # it may end between two lines
        folder = Path(f"/proc/{process}")
        rollup = (folder / "smaps_rollup").read_text()
        total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        for child in (folder / "task" / str(process) / "children").read_text().split():
            total += held(int(child))
    return total


def step(work: Callable[[], Any]) -> Any:
    """Time `work` when the measuring process is ready."""
    print("begin", flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    result = work()
    print(time.perf_counter() - started, flush=True)
    return result


def write(file: Path, size: int) -> None:
    module = build(size)
    step(lambda: file.write_bytes(mlir_fp8.serialize(module)))
    print("checked")


def read(file: Path, size: int) -> None:
    check(step(lambda: mlir_fp8.load(file)), size)


def inspect(file: Path, size: int) -> None:
    tool = [sys.executable, "-m", "mlir_fp8.tools.translate"]
    helped = subprocess.run([*tool, "--help"], capture_output=True, text=True, check=True)
    if "--inspect" not in helped.stdout:
        raise SystemExit("fp8-translate has no --inspect")
    shown = step(lambda: subprocess.run([*tool, "--inspect", str(file)], capture_output=True))
    version = artifact_version(file.read_bytes()[:64])
    if version and shown.returncode == 0 and version in shown.stdout.decode():
        print("checked")


def copy(file: Path, size: int) -> None:
    other = file.with_suffix(".copy")
    step(lambda: shutil.copyfile(file, other))
    other.unlink()
    print("checked")


STEPS: dict[str, Callable[[Path, int], None]] = {
    "write": write,
    "read": read,
    "inspect": inspect,
    "copy": copy,
}


def build(size: int) -> ir.Module:
    """A function that returns `size` MiB of constants."""
    context = make_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse("func.func @main() { return }", context)
        block = module.body.operations[0].regions[0].blocks[0]
        place = ir.InsertionPoint(block.operations[0])
        for index in range(CONSTANTS):
            value = weights(index, size)
            ir.Operation.create(
                "stablehlo.constant", results=[value.type], attributes={"value": value}, ip=place
            )
    return module


def weights(index: int, size: int) -> ir.DenseElementsAttr:
    """The values of one constant, in the current context."""
    element = ("bf16", "f8E4M3FN", "f8E5M2")[index % 3]
    codes = np.random.default_rng(index).bytes(size * MIB // CONSTANTS)
    array: Any = np.frombuffer(codes, np.int16 if element == "bf16" else np.int8)
    return ir.DenseElementsAttr.get(array, type=ir.Type.parse(element))


def check(module: ir.Module, size: int) -> None:
    # Attributes are unique in a context: equal values are the same object.
    constants = list(module.body.operations[0].regions[0].blocks[0].operations)[:-1]
    with module.context:
        if (
            all(
                operation.attributes["value"] == weights(index, size)
                for index, operation in enumerate(constants)
            )
            and len(constants) == CONSTANTS
        ):
            print("checked")


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
