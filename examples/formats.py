"""One transformer in bf16, FP8, MXFP8, MXFP6, MXFP4, NVFP4 and int8: size, speed and loss.

The training step of train_fp8.py, made of its bf16 form by `mlir_fp8.quantize` with the recipe of
each format. Size is that of the matrices among the parameters, codes packed, with their scales.
Speed is the median time of a step here, where no unit multiplies 6 or 4 bits. docs/training.md has
a run.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from train_fp8 import (
    ARGUMENTS,
    PLOTS,
    STEP,
    TEXT,
    Variant,
    batches,
    check_file,
    compiled,
    final,
    read_windows,
    save,
    train,
)

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools._command import run_command

GRADIENTS = {"stochastic_gradients": True, "hadamard": 16}
TIMED = 5


@dataclass(frozen=True)
class Format:
    """A format: how many bits an element has, how many elements share a scale, and its recipe."""

    bits: int
    block: int
    scale_bits: int
    recipe: (
        mlir_fp8.DelayedScaling
        | mlir_fp8.MXScaling
        | mlir_fp8.NVFP4Scaling
        | mlir_fp8.Int8Scaling
        | None
    )

    def bytes_of(self, shape: Sequence[int]) -> int:
        """Of a matrix: packed codes, and the scales of blocks along its longer side, or one."""
        size = int(np.prod(shape))
        scales = size // max(shape) * -(-max(shape) // self.block) if self.block else 1
        return (size * self.bits + scales * self.scale_bits + 7) // 8


FORMATS = {
    "bf16": Format(16, 0, 0, None),
    "FP8": Format(8, 0, 32, mlir_fp8.DelayedScaling()),
    "MXFP8": Format(8, 32, 8, mlir_fp8.MXScaling(scale_rounding="ceil")),
    "MXFP6": Format(6, 32, 8, mlir_fp8.MXScaling("f6E2M3FN", scale_rounding="even")),
    "MXFP4": Format(4, 32, 8, mlir_fp8.MXScaling("f4E2M1FN", scale_rounding="even", **GRADIENTS)),
    "NVFP4": Format(4, 16, 8, mlir_fp8.NVFP4Scaling(stochastic_gradients=True)),
    "int8": Format(8, 0, 32, mlir_fp8.Int8Scaling()),
}


def variant(name: str) -> Variant:
    """The training step in a format, with its state."""
    wide = mlir_fp8.load(STEP)
    run_pipeline(wide, ["fp8-remove-quantizers"])
    recipe = FORMATS[name].recipe
    if recipe is None:
        return Variant(name, wide)
    made = mlir_fp8.quantize(wide, recipe)
    return Variant(name, made.module, list(made.state.values()))


def weight_bytes(name: str) -> int:
    """The bytes of all matrices among the parameters."""
    arrays = [array for _, array in restored(np.load(ARGUMENTS))][:-1]
    return sum(FORMATS[name].bytes_of(each.shape) for each in arrays if each.ndim > 1)


def step_time(found: Variant, tokens: np.ndarray) -> float:
    """The median seconds of a step."""
    step = compiled(found.module)
    parameters = [array for _, array in restored(np.load(ARGUMENTS))][:-1]
    times: list[float] = []
    for _ in range(TIMED):
        start = time.perf_counter()
        step(*parameters, tokens, *found.state)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def table(losses: Mapping[str, Sequence[float]], times: Mapping[str, float]) -> str:
    """A row for each format: size, time of a step, loss of the last quarter of steps, to bf16's."""
    wanted = final(losses["bf16"])
    rows = [("format", "bytes", "ms a step", "loss", "to bf16")]
    for name, each in losses.items():
        end = final(each)
        numbers = (f"{1e3 * times[name]:.1f}", f"{end:.4f}", f"{end / wanted:.4f}")
        rows.append((name, str(weight_bytes(name)), *numbers))
    return "\n".join(f"{name:8}{''.join(f'{cell:>11}' for cell in cells)}" for name, *cells in rows)


def plot(path: Path, losses: Mapping[str, Sequence[float]]) -> None:
    """Above the losses, below what they end at against the bytes of the weights."""
    import matplotlib as mpl  # pyright: ignore[reportMissingImports]

    mpl.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    window = max(1, len(losses["bf16"]) // 10)
    for name, each in losses.items():
        mean = np.convolve(each, np.ones(window) / window, "valid")
        left.plot(np.arange(window, len(each) + 1), mean, label=name)
        right.plot(weight_bytes(name) / 1024, final(each), "o")
        right.annotate(name, (weight_bytes(name) / 1024, final(each)))
    left.set_xlabel("step")
    left.set_ylabel(f"loss, mean of {window} steps")
    left.legend()
    right.set_xlabel("KiB of weights")
    right.set_ylabel("loss of the last quarter")
    save(path, figure)


def run(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="default: %(default)s")
    parser.add_argument(
        "--formats", nargs="+", choices=list(FORMATS)[1:], default=list(FORMATS)[1:]
    )
    parser.add_argument("--plot", type=Path, help=f"draw it: {', '.join(PLOTS)}")
    options = parser.parse_args(argv)
    if options.steps < 1:
        raise mlir_fp8.Fp8Error("--steps is 1 or more")
    if options.plot is not None:
        check_file(options.plot, PLOTS)
    windows = read_windows([TEXT])
    losses: dict[str, list[float]] = {}
    times: dict[str, float] = {}
    for name in ("bf16", *options.formats):
        found = variant(name)
        losses[name] = train(found, batches(windows, 0), options.steps)
        times[name] = step_time(found, next(batches(windows, 0)))
    print(table(losses, times))
    if options.plot is not None:
        plot(options.plot, losses)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    return run_command(run, argv, "formats.py")


if __name__ == "__main__":
    sys.exit(main())
