"""Functions of f32, elementwise, beside numpy and XLA:CPU in the same run.

Run `python benchmarks/functions.py`; XLA:CPU is measured where `jax` is installed, by
`pip install '.[xla]'`, and skipped by name elsewhere. One array that fits the cache, one thread of
ours; medians, peers alternating. All results are checked against numpy in f64 in the same run, and
each one's largest error is shown.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")

import numpy as np
import peers

import mlir_fp8

COUNT = 1 << 16
ROUNDS = 31
Program = Callable[[np.ndarray], np.ndarray]
FUNCTIONS: dict[str, tuple[str, Program | None, Program, tuple[float, float]]] = {
    "exp": ("stablehlo.exponential", np.exp, np.exp, (-80, 80)),
    "expm1": ("stablehlo.exponential_minus_one", np.expm1, np.expm1, (-10, 10)),
    "log": ("stablehlo.log", np.log, np.log, (1e-6, 1e6)),
    "log1p": ("stablehlo.log_plus_one", np.log1p, np.log1p, (-0.99, 100)),
    "logistic": ("stablehlo.logistic", None, lambda x: 1 / (1 + np.exp(-x)), (-80, 80)),
    "tanh": ("stablehlo.tanh", np.tanh, np.tanh, (-5, 5)),
    "sin": ("stablehlo.sine", np.sin, np.sin, (-100, 100)),
    "cos": ("stablehlo.cosine", np.cos, np.cos, (-100, 100)),
    "tan": ("stablehlo.tan", np.tan, np.tan, (-100, 100)),
    "cbrt": ("stablehlo.cbrt", np.cbrt, np.cbrt, (-100, 100)),
    "rsqrt": ("stablehlo.rsqrt", lambda x: 1 / np.sqrt(x), lambda x: 1 / np.sqrt(x), (1e-6, 1e6)),
    "asin": ("chlo.asin", np.arcsin, np.arcsin, (-1, 1)),
    "acos": ("chlo.acos", np.arccos, np.arccos, (-1, 1)),
    "atan": ("chlo.atan", np.arctan, np.arctan, (-10, 10)),
    "sinh": ("chlo.sinh", np.sinh, np.sinh, (-80, 80)),
    "cosh": ("chlo.cosh", np.cosh, np.cosh, (-80, 80)),
    "asinh": ("chlo.asinh", np.arcsinh, np.arcsinh, (-100, 100)),
    "acosh": ("chlo.acosh", np.arccosh, np.arccosh, (1, 100)),
    "atanh": ("chlo.atanh", np.arctanh, np.arctanh, (-0.99, 0.99)),
}
"""By name: the op, numpy's function if it has one, the exact one on f64, and the interval."""


def main() -> int:
    xla = xla_cpu()
    peers = ["numpy"] + (["XLA:CPU"] if xla else [])
    if xla is None:
        print("XLA:CPU is skipped: jax is not installed")
    print(f"{COUNT} elements; ns per element (largest error in ULP), and ratio of mlir-fp8 to it")
    print(f"{'function':10}{'mlir-fp8':>16}" + "".join(f"{peer:>26}" for peer in peers))
    rng = np.random.default_rng(0)
    for name, (op, numpy_function, exact, interval) in FUNCTIONS.items():
        x = rng.uniform(*interval, COUNT).astype(np.float32)
        programs: dict[str, Program] = {"mlir-fp8": ours(op)}
        if numpy_function is not None:
            programs["numpy"] = numpy_function
        if xla is not None:
            programs["XLA:CPU"] = xla(op)
        errors = {
            who: largest_error(program(x), exact(x.astype(np.float64)))
            for who, program in programs.items()
        }
        if not errors["mlir-fp8"] <= 0.51:
            raise SystemExit(f"{name} is off by {errors['mlir-fp8']} ULP")
        times = measured(programs, x)
        line = f"{name:10}{times['mlir-fp8']:8.2f} ({errors['mlir-fp8']:.3f})"
        for peer in peers:
            if peer not in programs:
                line += f"{'-':>26}"
                continue
            ratio = times["mlir-fp8"] / times[peer]
            line += f"{f'{times[peer]:.2f} ({errors[peer]:.3g})  x{ratio:.2f}':>26}"
        print(line, flush=True)
    return 0


def text_of(op: str) -> str:
    type_ = f"tensor<{COUNT}xf32>"
    return (
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f'%y = "{op}"(%x) : ({type_}) -> {type_}\nreturn %y : {type_}\n}}'
    )


def ours(op: str) -> Program:
    module = mlir_fp8.compile(text_of(op))
    return lambda x: module(x)[0]


def xla_cpu() -> Callable[[str], Program] | None:
    jax, xla = peers.optional("jax"), peers.xla_cpu()
    if xla is None:
        return None

    def compile_(op: str) -> Program:
        execute = xla(text_of(op))

        def run(x: np.ndarray) -> np.ndarray:
            return np.asarray(execute([jax.device_put(x)])[0])

        return run

    return compile_


def largest_error(got: np.ndarray, want: np.ndarray) -> float:
    """In units of the last place that f32 has at `want`."""
    place = np.spacing(np.abs(want.astype(np.float32)))
    return float(np.max(np.abs(got.astype(np.float64) - want) / place))


def measured(programs: dict[str, Program], x: np.ndarray) -> dict[str, float]:
    """Median nanoseconds per element."""
    seconds: dict[str, list[float]] = {who: [] for who in programs}
    for _ in range(ROUNDS):
        for who, program in programs.items():
            started = time.perf_counter()
            program(x)
            seconds[who].append(time.perf_counter() - started)
    return {who: 1e9 * statistics.median(times) / COUNT for who, times in seconds.items()}


if __name__ == "__main__":
    sys.exit(main())
