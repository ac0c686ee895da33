"""Casts of numpy arrays beside ml_dtypes, torch, XLA:CPU and a copy of the same bytes, in one run.

    python benchmarks/casts.py [--elements 2**24] [--sizes]

Every contender fills an array that it is given, where it can (ml_dtypes: `np.copyto`; torch:
`copy_`), so that no operating system's page is counted; XLA:CPU gives new ones. They take turns;
medians, and ratios against `mlir_fp8.cast` on one thread. The copy moves half as many bytes as both
arrays have, so that it reads and writes as many bytes as the cast. Values are checked in the same
run. Peers that are not installed are skipped by name. `--sizes` shows how time grows with size.
The last column is the ratio of the shortest times, which other work on the machine spoils least.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")

import numpy as np
import peers

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS

PAIRS = (
    ("f32", "f8E4M3FN"),
    ("f8E4M3FN", "f32"),
    ("f32", "f8E5M2"),
    ("f8E5M2", "f32"),
    ("bf16", "f8E4M3FN"),
    ("f8E4M3FN", "bf16"),
    ("f16", "f8E4M3FN"),
    ("f8E4M3FN", "f16"),
    ("f8E4M3FN", "f8E5M2"),
)
MAIN = PAIRS[:2]
BARS = {"ml_dtypes": 20.0, "torch": 3.0, "copy": 0.7}
"""For `MAIN`, what a peer's time is of ours, at least."""
ONE = "mlir-fp8, 1 thread"
TORCH_NAMES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16",
               "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}  # fmt: skip
Contender = Callable[[], np.ndarray]


def main() -> int:
    parser = argparse.ArgumentParser(description="Casts, side by side in one run.")
    parser.add_argument("--elements", default="2**24", help="how many, such as 2**24")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sizes", action="store_true", help="sizes from 2**8 to 2**28")
    options = parser.parse_args()
    base, _, power = options.elements.partition("**")
    elements = int(base) ** int(power or 1)
    for name in ("torch", "jax"):
        if peers.optional(name) is None:
            print(f"{name} is skipped: it is not installed")
    if options.sizes:
        for source, target in MAIN:
            _grow(source, target)
        return 0
    for source, target in PAIRS:
        _compare(source, target, elements, options.rounds)
    return 0


def _compare(source: str, target: str, elements: int, rounds: int) -> None:
    seconds = _measure(_contenders(source, target, elements), rounds)
    print(f"{source} to {target}, {elements} elements, median of {rounds} in turn")
    for name, all_taken in seconds.items():
        taken = statistics.median(all_taken)
        ratio = taken / statistics.median(seconds[ONE])
        best = min(all_taken) / min(seconds[ONE])
        line = f"  {name:24}{taken * 1e3:10.3f} ms{elements / taken / 1e9:8.2f} Gelem/s"
        bar = BARS.get(name) if (source, target) in MAIN else None
        verdict = "" if bar is None else f"  {'reached' if ratio >= bar else 'MISSED'}: {bar}"
        print(f"{line}{ratio:8.2f} x{best:8.2f} x{verdict}")


def _grow(source: str, target: str) -> None:
    print(f"{source} to {target}, median ns per element by number of elements")
    for power in range(8, 29, 2):
        elements = 1 << power
        seconds = _measure(_contenders(source, target, elements), max(5, 200 >> (power // 2)))
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        row = [f"{name} {taken / elements * 1e9:.3f}" for name, taken in medians.items()]
        print(f"  2**{power:<4}{'   '.join(row)}")


def _measure(contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    wanted = contenders["ml_dtypes"]().copy()
    for name, contender in contenders.items():
        if name != "copy" and contender().tobytes() != wanted.tobytes():
            raise SystemExit(f"{name} gives other values")
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            started = time.perf_counter()
            contender()
            seconds[name].append(time.perf_counter() - started)
    return seconds


def _contenders(source: str, target: str, elements: int) -> dict[str, Contender]:
    held, given = FORMATS[source].dtype, FORMATS[target].dtype
    numbers = np.random.default_rng(0).standard_normal(elements, np.float32)
    array, out = numbers.astype(held), np.zeros(elements, given)
    half = (array.nbytes + out.nbytes) // 2
    from_, to = np.ones(half, np.uint8), np.zeros(half, np.uint8)

    def ml_dtypes() -> np.ndarray:
        np.copyto(out, array, casting="unsafe")
        return out

    def copy() -> np.ndarray:
        np.copyto(to, from_)
        return to

    contenders: dict[str, Contender] = {
        ONE: lambda: mlir_fp8.cast(array, given, out=out, threads=1),
        "mlir-fp8, all threads": lambda: mlir_fp8.cast(array, given, out=out),
        "copy": copy,
        "ml_dtypes": ml_dtypes,
    }
    peers = {"torch": _torch(source, target, array), "XLA:CPU": _xla(given, array)}
    return contenders | {name: peer for name, peer in peers.items() if peer is not None}


def _torch(source: str, target: str, array: np.ndarray) -> Contender | None:
    torch = peers.optional("torch")
    if torch is None:
        return None
    torch.set_num_threads(1)
    codes = torch.from_numpy(array.view(f"u{array.itemsize}"))
    tensor = codes.view(getattr(torch, TORCH_NAMES[source]))
    result = torch.empty(array.size, dtype=getattr(torch, TORCH_NAMES[target]))
    as_integers = getattr(torch, f"int{8 * result.element_size()}")

    def run() -> np.ndarray:
        result.copy_(tensor)
        return result.view(as_integers).numpy()

    return run


def _xla(given: np.dtype, array: np.ndarray) -> Contender | None:
    jax = peers.optional("jax")
    if jax is None:
        return None
    held = jax.device_put(array, jax.devices("cpu")[0])
    convert = jax.jit(lambda x: x.astype(given))
    return lambda: np.asarray(convert(held).block_until_ready())


if __name__ == "__main__":
    sys.exit(main())
