"""Start-up, compile time and run time of the road, beside XLA:CPU in the same run.

Run `python benchmarks/road.py`; XLA:CPU is measured where `jax` is installed, by
`pip install '.[xla]'`, and skipped by name elsewhere. Medians; values are checked in the same run.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# As the strict evaluation that the expected results were made by.
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")

import numpy as np
import peers

import mlir_fp8
from mlir_fp8.arrays import restored

MODELS = Path(__file__).parent.parent / "test" / "models"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
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
MIXED = """\
  %a{i} = stablehlo.dot_general %x{i}, %y, contracting_dims = [1] x [0]
    : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %b{i} = stablehlo.tanh %a{i} : tensor<16x16xf32>
  %c{i} = stablehlo.convert %b{i} : (tensor<16x16xf32>) -> tensor<16x16xf8E4M3FN>
  %d{i} = stablehlo.transpose %c{i}, dims = [1, 0]
    : (tensor<16x16xf8E4M3FN>) -> tensor<16x16xf8E4M3FN>
  %e{i} = stablehlo.add %d{i}, %c{i} : tensor<16x16xf8E4M3FN>
  %f{i} = stablehlo.convert %e{i} : (tensor<16x16xf8E4M3FN>) -> tensor<16x16xf32>
  %g{i} = stablehlo.reduce(%f{i} init: %zero) applies stablehlo.maximum across dimensions = [1]
    : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
  %h{i} = stablehlo.broadcast_in_dim %g{i}, dims = [0] : (tensor<16xf32>) -> tensor<16x16xf32>
  %p{i} = stablehlo.compare GT, %h{i}, %b{i} : (tensor<16x16xf32>, tensor<16x16xf32>)
    -> tensor<16x16xi1>
  %x{j} = stablehlo.select %p{i}, %f{i}, %h{i} : tensor<16x16xi1>, tensor<16x16xf32>
"""
"""Ten ops, from %x{i} to %x{j}."""
Program = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


def main() -> int:
    print("start-up, seconds (median of 9)")
    for name, seconds in start_up():
        print(f"  {name:44}{seconds:8.3f}")
    print("training step, seconds per stage (median of 3)")
    for name, seconds in stages():
        print(f"  {name:44}{seconds:8.3f}")
    print("500 mixed ops, seconds to compile (median of 3)")
    text = five_hundred_ops()
    print(f"  {'mlir-fp8':44}{median(3, lambda: mlir_fp8.compile(text, cache=False)):8.3f}")
    print("models, seconds: compile (median of 3) and run (median of 51, alternating)")
    xla = xla_cpu()
    if xla is None:
        print("  XLA:CPU is skipped: jax is not installed")
    for name in NAMES:
        model(name, xla)
    return 0


def start_up() -> list[tuple[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ten_lines.mlir"
        file.write_text(TEN_LINES)
        opt = [sys.executable, "-m", "mlir_fp8.tools.opt"]
        commands = {
            "fp8-opt --help": [*opt, "--help"],
            "fp8-opt, ten lines through canonicalize": [*opt, str(file), "--canonicalize"],
            "fp8-opt, ten lines through float-normalization": [
                *opt,
                str(file),
                "--float-normalization",
            ],
        }
        return [(name, median(9, lambda c=c: _call(c))) for name, c in commands.items()]


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def stages() -> list[tuple[str, float]]:
    seen: dict[str, list[float]] = {}
    for _ in range(3):
        started = time.perf_counter()
        module = mlir_fp8.load(MODELS / "transformer_train_step.mlirbc")
        seen.setdefault("load artifact", []).append(time.perf_counter() - started)
        mlir_fp8.compile(module, on_stage=lambda n, s, _: seen.setdefault(n, []).append(s))
    return [(name, statistics.median(seconds)) for name, seconds in seen.items()]


def five_hundred_ops() -> str:
    """A module of 50 rounds of `MIXED`."""
    rounds = [MIXED.format(i=i, j=i + 1) for i in range(50)]
    return "\n".join(
        [
            "func.func @main(%x0: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {",
            "  %zero = stablehlo.constant dense<0.0> : tensor<f32>",
            *rounds,
            "  return %x50 : tensor<16x16xf32>\n}",
        ]
    )


def model(name: str, xla: Callable[[str], Program] | None) -> None:
    text = (MODELS / f"{name}.mlir").read_text()
    arguments = [array for _, array in restored(np.load(MODELS / f"{name}.in.npz"))]
    expected = [array for _, array in restored(np.load(MODELS / f"{name}.out.npz"))]

    def ours(text: str) -> Program:
        compiled = mlir_fp8.compile(text, cache=False)
        return lambda arrays: compiled(*arrays)

    compilers = {"mlir-fp8": ours} | ({"XLA:CPU": xla} if xla else {})
    compile_seconds = {who: median(3, lambda c=c: c(text)) for who, c in compilers.items()}
    programs = {who: compiler(text) for who, compiler in compilers.items()}
    for who, program in programs.items():
        _check(name, who, program(arguments), expected)
    run_seconds: dict[str, list[float]] = {who: [] for who in programs}
    for _ in range(51):
        for who, program in programs.items():
            run_seconds[who].append(_seconds(lambda p=program: p(arguments)))
    runs = {who: statistics.median(seconds) for who, seconds in run_seconds.items()}
    for who in programs:
        ratio = f"  x{compile_seconds['mlir-fp8'] / compile_seconds[who]:.2f} compile"
        ratio += f"  x{runs['mlir-fp8'] / runs[who]:.2f} run"
        print(f"  {name:26}{who:10}{compile_seconds[who]:8.3f}{runs[who]:10.6f}", end="")
        print(f"{ratio}  (mlir-fp8 / {who})" if who != "mlir-fp8" else "")


def _check(name: str, who: str, got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    for index, (result, wanted) in enumerate(zip(got, expected, strict=True)):
        error = np.linalg.norm(result.astype(np.float64) - wanted) / np.linalg.norm(wanted)
        if not error <= 1e-5:
            raise SystemExit(f"{name}: result {index} of {who} is off by {error:.2e}")


def xla_cpu() -> Callable[[str], Program] | None:
    jax, xla = peers.optional("jax"), peers.xla_cpu()
    if xla is None:
        return None

    def compile_(text: str) -> Program:
        execute = xla(text)

        def run(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
            return [np.asarray(each) for each in execute([jax.device_put(a) for a in arrays])]

        return run

    return compile_


def median(times: int, work: Callable[[], Any]) -> float:
    return statistics.median(_seconds(work) for _ in range(times))


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
