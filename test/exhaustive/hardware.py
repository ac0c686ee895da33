"""Kernels on a processor that is elsewhere: libraries made here, values and times found there.

    python test/exhaustive/hardware.py make FOLDER [--mcpu=sapphirerapids] [--threads=2]
    python FOLDER/hardware.py run FOLDER [--cpu=N]

`make` needs this project, and puts a library and operands of each case into FOLDER, with a copy of
this file: some 2 MB. `run` needs numpy alone, and holds values to sums in f64, of all codes by all
codes, odd sizes, either layout, few rows and many. Where PyTorch is installed there, its
products of f32 and bf16 take turns with ours. It prints one table, and exits with 1 where a value
is off. Not a test that pytest runs; test_hardware.py makes and runs the small cases.
"""

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

SEED = 0
ROUNDING = 2.0**-24
Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A product of f8E4M3FN by `right`, m x k by k x n, or n x k where it is `transposed`."""

    m: int
    k: int
    n: int
    transposed: bool = False
    left: str = "f8E4M3FN"
    right: str = "f8E4M3FN"

    @property
    def name(self) -> str:
        layout = "n x k" if self.transposed else "k x n"
        return f"{self.m} x {self.k} x {self.n}, {layout}, {self.left} by {self.right}"

    @property
    def text(self) -> str:
        """The module."""
        shape = f"{self.n}x{self.k}" if self.transposed else f"{self.k}x{self.n}"
        left, right = f"tensor<{self.m}x{self.k}x{self.left}>", f"tensor<{shape}x{self.right}>"
        result = f"tensor<{self.m}x{self.n}xf32>"
        return (
            f"func.func @main(%a: {left}, %b: {right}) -> {result} {{\n"
            f"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x"
            f" [{int(self.transposed)}] : ({left}, {right}) -> {result}\n"
            f"  return %0 : {result}\n}}\n"
        )


SMALL = [
    Case(256, 256, 256),  # all codes by all codes, see `operands`
    Case(256, 256, 256, right="f8E5M2"),
    Case(256, 256, 256, left="f8E5M2FNUZ", right="f8E4M3FNUZ"),
    Case(97, 129, 65),
    Case(33, 1100, 47, transposed=True),
    Case(1, 700, 130, transposed=True),
    Case(5, 700, 130),
    Case(40, 70, 50, left="f32", right="f32"),
    Case(72, 70, 50, transposed=True, left="bf16", right="bf16"),
]
TIMED = [
    Case(1024, 1024, 1024),
    Case(1024, 1024, 1024, transposed=True),
    *(Case(m, 4096, 4096, transposed=True) for m in (128, 16, 4, 1)),
    Case(16, 4096, 4096),
    Case(1, 4096, 4096),
    *(
        Case(m, k, n, transposed, left, left)
        for left in ("bf16", "f32")
        for m, k, n, transposed in ((1024, 1024, 1024, False), (128, 4096, 4096, True))
    ),
]


def operands(case: Case, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Codes, or f32, of both operands: of 256 cubed all codes in every column and row."""
    generator = np.random.default_rng(SEED)
    shape = (case.n, case.k) if case.transposed else (case.k, case.n)
    numbers = [generator.standard_normal(each, np.float32) for each in ((case.m, case.k), shape)]
    if case.left == "f32":
        return numbers[0], numbers[1]
    if case.left == "bf16":
        left, right = ((each.view(np.uint32) >> 16).astype(np.uint16) for each in numbers)
        return left, right
    left, right = (values[each] for each in (case.left, case.right))
    if (case.m, case.k, case.n) == (256, 256, 256):
        codes = [np.flatnonzero(np.isfinite(each)).astype(np.uint8) for each in (left, right)]
        rows = np.add.outer(np.arange(256), np.arange(256))
        return codes[0][rows % codes[0].size], codes[1][rows % codes[1].size]
    return _nearest(numbers[0], left), _nearest(numbers[1], right)


def _nearest(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Codes of values next to the numbers; ties do not matter."""
    codes = np.flatnonzero(np.isfinite(values))
    order = codes[np.argsort(values[codes], kind="stable")]
    place = np.searchsorted(values[order], numbers).clip(0, order.size - 1)
    return order[place].astype(np.uint8)


def error_of(case: Case, values: dict[str, np.ndarray], got: np.ndarray) -> float:
    """The largest error in times of 2^-24 of the sum of magnitudes."""
    wide = [
        _wide(each, values.get(name)).astype(np.float64)
        for each, name in zip(operands(case, values), (case.left, case.right), strict=True)
    ]
    left, right = wide[0], wide[1].T if case.transposed else wide[1]
    scale = np.abs(left) @ np.abs(right) * ROUNDING
    difference = np.abs(got - left @ right)
    return float(np.max(np.where(difference == 0, 0, difference / np.maximum(scale, 1e-300))))


def _wide(numbers: np.ndarray, values: np.ndarray | None) -> np.ndarray:
    """As f32: codes have `values`, else f32 or the upper halves of it."""
    if values is not None:
        return values[numbers]
    return numbers if numbers.itemsize == 4 else (numbers.astype(np.uint32) << 16).view(np.float32)


def limit_of(case: Case) -> float:
    """What docs/numerics.md allows: additions that one number meets."""
    return 1024 + 2 * np.ceil(np.sqrt(case.k / 512)) + 16


def make(folder: Path, mcpu: str | None, threads: int, cases: list[Case]) -> None:
    """A library of each case, and what `run` needs."""
    import ml_dtypes

    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(cases):
        source, library = folder / f"{number}.mlir", folder / f"{number}.so"
        source.write_text(case.text)
        command = [
            "translate",
            "--emit=shared-lib",
            str(source),
            "-o",
            str(library),
            "--c-prefix=case",
            f"--threads={threads}",
        ]
        command += [] if mcpu is None else [f"--mcpu={mcpu}"]
        subprocess.run([sys.executable, "-m", "mlir_fp8", *command], check=True)
        source.unlink()
        print(f"{number + 1} of {len(cases)}: {case.name}", file=sys.stderr)
    names = sorted({each for case in cases for each in (case.left, case.right)} - {"f32", "bf16"})
    codes = np.arange(256, dtype=np.uint8)
    tables = {
        name: codes.view(getattr(ml_dtypes, "float8_" + name[2:].lower())).astype(np.float32)
        for name in names
    }
    np.savez(folder / "values.npz", **tables)  # pyright: ignore[reportArgumentType]
    made = {"threads": threads, "cases": [asdict(case) for case in cases]}
    (folder / "cases.json").write_text(json.dumps(made))
    copied = folder / "hardware.py"
    if copied.resolve() != Path(__file__).resolve():
        shutil.copy(__file__, copied)


def run(folder: Path, seconds: float) -> bool:
    """Print the table; whether all values are right."""
    made = json.loads((folder / "cases.json").read_text())
    cases, threads = [Case(**each) for each in made["cases"]], made["threads"]
    with np.load(folder / "values.npz") as file:
        values = dict(file)
    print(f"processor: {_processor()}, {threads} threads for each contender")
    print(f"{'case':<52}{'error / 2^-24':>14}{'ms':>9}{'GFLOP/s':>9}{'f32':>7}{'bf16':>7}")
    is_right = True
    for number, case in enumerate(cases):
        function = ctypes.CDLL(str(folder / f"{number}.so")).case_main
        left, right = operands(case, values)
        result = np.full((case.m, case.n), np.nan, np.float32)
        buffers = [ctypes.c_void_p(each.ctypes.data) for each in (left, right, result)]
        function(*buffers)
        error = error_of(case, values, result)
        is_right = is_right and error <= limit_of(case)  # not for NaN
        ours = {"ours": lambda f=function, b=buffers: f(*b)}
        times = _times({**ours, **dict(_peers(case, threads))}, seconds, pause=threads > 1)
        ours = times["ours"]
        row = f"{case.name:<52}{error:>14.1f}{ours * 1e3:>9.3f}"
        row += f"{2 * case.m * case.k * case.n / ours / 1e9:>9.0f}"
        for peer in ("f32", "bf16"):
            row += f"{times[peer] / ours:>7.2f}" if peer in times else f"{'-':>7}"
        print(row if error <= limit_of(case) else f"{row}  WRONG", flush=True)
    return is_right


def _processor() -> str:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    found = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return f"{found[0] if found else 'unknown'}, {len(os.sched_getaffinity(0))} of it used"


def _peers(case: Case, threads: int) -> Iterator[tuple[str, Call]]:
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return
    torch.set_num_threads(threads)
    left = torch.randn(case.m, case.k)
    right = torch.randn(case.n, case.k).t() if case.transposed else torch.randn(case.k, case.n)
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        operands: Any = left.to(dtype), right.to(dtype)
        yield name, lambda pair=operands: pair[0] @ pair[1]


def _times(calls: dict[str, Call], seconds: float, *, pause: bool) -> dict[str, float]:
    """The best time of each, which take turns for so long, three times at least.

    With `pause` threads of the last one have time to fall asleep.
    """
    best = dict.fromkeys(calls, np.inf)
    turns, started = 0, time.perf_counter()
    while turns < 3 or time.perf_counter() - started < seconds:
        turns += 1
        for name, call in calls.items():
            time.sleep(0.005 if pause else 0)
            before = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - before)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description="Kernels on a processor that is elsewhere.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="make the libraries in a folder")
    making.add_argument("folder", type=Path)
    making.add_argument("--mcpu", help="LLVM's name of the other processor; else this one's")
    making.add_argument("--threads", type=int, default=1, help="that a library uses")
    making.add_argument("--small", action="store_true", help="without the cases to be timed")
    running = commands.add_parser("run", help="values and times of the libraries in a folder")
    running.add_argument("folder", type=Path)
    running.add_argument("--cpu", type=int, help="stay on this one")
    running.add_argument("--seconds", type=float, default=1.0, help="for each case, at least")
    options = parser.parse_args()
    if options.command == "make":
        cases = [*SMALL, *([] if options.small else TIMED)]
        make(options.folder, options.mcpu, options.threads, cases)
        return 0
    if options.cpu is not None:
        os.sched_setaffinity(0, {options.cpu})
    return 0 if run(options.folder, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
