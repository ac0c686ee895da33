"""Matrix products beside torch's, one thread each, in one run: `python benchmarks/products.py`.

Rounds alternate between all that are measured, so that what disturbs one disturbs the others; the
figures are medians of CPU time, and ratios of these. Every result is checked against exact sums:
operands are small whole numbers. torch is measured where it is installed.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peers import optional

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS

SIZES = ((1, 4096, 4096), (8, 4096, 4096), (64, 64, 64), (256, 256, 256), (1024, 1024, 1024))
ELEMENTS = (("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN"), ("bf16", "bf16"), ("f32", "f32"))
PEERS = ("torch _scaled_mm", "torch bf16", "torch f32")
SECONDS = 1.5
"""Of rounds per row, at least three of them."""

Run = Callable[[], Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", default=[], help="such as 1x4096x4096: m, n, k")
    options = parser.parse_args()
    sizes = [tuple(map(int, each.split("x"))) for each in options.sizes] or SIZES
    torch = optional("torch")
    if torch is None:
        print("torch is not installed: skipped")
    else:
        torch.set_num_threads(1)
    print("ours transposed: the right operand is given as n x k, as weights are")
    print(
        f"{'m x n x k':>16} {'operands':>20} {'ours':>10} {'GFLOP/s':>8} {'transposed':>10}  peers"
    )
    for size in sizes:
        peers: dict[str, Run] = {} if torch is None else _torch_products(torch, size)
        for elements in ELEMENTS:
            _row(size, elements, peers)
    return 0


def _operands(size: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    m, n, k = size
    generator = np.random.default_rng(0)
    shapes = ((m, k), (k, n))
    left, right = (generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes)
    return left, right


def _row(size: tuple[int, ...], elements: tuple[str, str], peers: dict[str, Run]) -> None:
    m, n, k = size
    left, right = _operands(size)
    want = left.astype(np.float64) @ right.astype(np.float64)
    runs: dict[str, Run] = {}
    for name, contracting in (("ours", 0), ("transposed", 1)):
        arrays = [left, np.ascontiguousarray(right.T) if contracting else right]
        arrays = [
            array.astype(FORMATS[element].dtype)
            for array, element in zip(arrays, elements, strict=True)
        ]
        compiled = mlir_fp8.compile(_program(size, elements, contracting))
        np.testing.assert_array_equal(compiled(*arrays)[0], want)
        runs[name] = lambda compiled=compiled, arrays=arrays: compiled(*arrays)
    medians = _alternating(runs | peers)
    ours = medians["ours"]
    ratios = ", ".join(f"{name} x{medians[name] / ours:.2f}" for name in peers)
    shape, operands = "x".join(map(str, size)), " ".join(elements)
    speed = 2 * m * n * k / ours / 1e9
    print(
        f"{shape:>16} {operands:>20} {ours * 1e3:7.3f} ms {speed:8.1f}"
        f" {medians['transposed'] * 1e3:7.3f} ms  {ratios}",
        flush=True,
    )


def _program(size: tuple[int, ...], elements: tuple[str, str], contracting: int) -> str:
    m, n, k = size
    left = f"tensor<{m}x{k}x{elements[0]}>"
    right = f"tensor<{f'{n}x{k}' if contracting else f'{k}x{n}'}x{elements[1]}>"
    result = f"tensor<{m}x{n}xf32>"
    return f"""
    func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{contracting}]
        : ({left}, {right}) -> {result}
      return %0 : {result}
    }}"""


def _torch_products(torch: Any, size: tuple[int, ...]) -> dict[str, Run]:
    """With the right operand as n x k, which `_scaled_mm` asks for."""
    left, right = (torch.from_numpy(array) for array in _operands(size))
    right = right.T.contiguous()
    want = left @ right.T
    one = torch.tensor(1.0)
    float8 = [each.to(torch.float8_e4m3fn) for each in (left, right)]
    bf16 = [each.bfloat16() for each in (left, right)]
    runs: dict[str, Run] = dict(
        zip(
            PEERS,
            (
                lambda: torch._scaled_mm(float8[0], float8[1].T, one, one, out_dtype=torch.float32),
                lambda: bf16[0] @ bf16[1].T,
                lambda: left @ right.T,
            ),
            strict=True,
        )
    )
    for name, run in list(runs.items()):
        try:
            result = run()
        except RuntimeError as error:
            print(f"{name} refuses {'x'.join(map(str, size))}: {str(error).splitlines()[0]}")
            del runs[name]
            continue
        assert torch.equal(result, want.to(result.dtype)), name
    return runs


def _alternating(runs: dict[str, Run]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times["ours"]) < 3:
        for name, run in runs.items():
            started = time.thread_time()
            run()
            times[name].append(time.thread_time() - started)
    return {name: statistics.median(each) for name, each in times.items()}


if __name__ == "__main__":
    sys.exit(main())
