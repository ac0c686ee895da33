"""Train a small transformer in bf16, and in FP8 and FP4 with scales that the compiler looks after.

The program is a training step that JAX wrote with FP8 dots and fixed scales (test/models). Without
its quantizers it is a bf16 step; from that, `mlir_fp8.quantize` makes steps with delayed and with
current scaling, in MXFP8 and in NVFP4. They all start from the same parameters and see the same
text, new at every step, one character a token. docs/training.md shows a run.
"""

import argparse
import csv
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools._command import read_input, run_command, write_output

ROOT = Path(__file__).parent.parent
STEP = ROOT / "test" / "models" / "transformer_train_step.mlirbc"
ARGUMENTS = ROOT / "test" / "models" / "transformer_train_step.in.npz"
TEXT = Path(__file__).with_name("prose.txt")
"""From this project's documentation, as it once was: so a run gives the same numbers tomorrow."""
BATCH, WINDOW = 2, 17
"""Sequences of a step, and their characters, of which all but the first are predicted."""
ROWS = 10
STYLES = {
    "bf16": ("black", "-"),
    "delayed": ("C0", "-"),
    "current": ("C1", "--"),
    "fixed": ("C2", ":"),
    "mxfp8": ("C4", "-"),
    "nvfp4": ("C5", "-"),
    "unscaled": ("C3", "-."),
}
PLOTS, OUTPUTS = (".svg", ".png", ".pdf"), (".csv", ".json")
INSTALL = "pip install 'mlir-fp8[examples]'"

Losses = Mapping[str, Sequence[float]]
"""By the variant's name, the loss of each step, before its update."""


@dataclass(frozen=True)
class Variant:
    """A step: parameters, tokens and state to the loss, new parameters and new state.

    `keeps_state`: the new state is for the next step; else each step gets that of the first.
    """

    name: str
    module: ir.Module
    state: Sequence[np.ndarray] = ()
    keeps_state: bool = True


def variants(backward: str, *, unscaled: bool) -> list[Variant]:
    """The steps, bf16 first; with `unscaled`, also one whose scales all stay 1."""
    wide = mlir_fp8.load(STEP)
    run_pipeline(wide, ["fp8-remove-quantizers"])
    delayed = mlir_fp8.quantize(wide, mlir_fp8.DelayedScaling(backward=backward))
    current = mlir_fp8.quantize(wide, mlir_fp8.CurrentScaling(backward=backward))
    scales = list(delayed.state.values())
    blocks = {
        "mxfp8": mlir_fp8.MXScaling(scale_rounding="ceil"),
        "nvfp4": mlir_fp8.NVFP4Scaling(stochastic_gradients=True),
    }
    found = [
        Variant("bf16", wide),
        Variant("delayed", delayed.module, scales),
        Variant("current", current.module),
        Variant("fixed", mlir_fp8.load(STEP)),
        *(Variant(name, mlir_fp8.quantize(wide, each).module) for name, each in blocks.items()),
    ]
    return [*found, Variant("unscaled", delayed.module, scales, False)] if unscaled else found


def read_windows(paths: Sequence[Path]) -> np.ndarray:
    """The texts, cut into sequences: one ASCII code a token, `?` for all other characters."""
    text = "".join(read_input(str(path))[1].decode("utf-8", "replace") for path in paths)
    tokens = np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int32)
    if tokens.size < BATCH * WINDOW:
        needed = BATCH * WINDOW
        raise mlir_fp8.Fp8Error(f"the text has {tokens.size} characters: give it {needed} or more")
    return tokens[: tokens.size // WINDOW * WINDOW].reshape(-1, WINDOW)


def batches(windows: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """The tokens of step after step: each window once, in random order, then in another one."""
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(len(windows))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            yield windows[order[start : start + BATCH]]


@cache
def compiled(module: ir.Module) -> mlir_fp8.CompiledModule:
    return mlir_fp8.compile(module)


def train(variant: Variant, tokens: Iterator[np.ndarray], steps: int) -> list[float]:
    """The loss of each of `steps` steps of `variant`, from the parameters that JAX drew."""
    progress(f"{variant.name}: compiling")
    step = compiled(variant.module)
    parameters = [array for _, array in restored(np.load(ARGUMENTS))][:-1]
    state = variant.state
    losses: list[float] = []
    for number in range(1, steps + 1):
        loss, *rest = step(*parameters, next(tokens), *state)
        parameters, new_state = rest[: len(parameters)], rest[len(parameters) :]
        state = new_state if variant.keeps_state else state
        losses.append(float(loss))
        progress(f"{variant.name}: step {number} of {steps}, loss {loss:.3f}")
    progress("")
    return losses


def progress(line: str) -> None:
    """Show `line` in the place of the last one, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def final(losses: Sequence[float]) -> float:
    """The mean over the last quarter of the steps."""
    return float(np.mean(losses[-max(1, len(losses) // 4) :]))


def table(losses: Losses) -> str:
    """Mean losses of tenths of the steps, of the last quarter, and that as parts of bf16's."""
    steps = len(losses["bf16"])
    edges = np.linspace(0, steps, min(ROWS, steps) + 1).astype(int)
    rows = [("steps", *losses)]
    for first, end in pairwise(edges):
        means = (f"{np.mean(each[first:end]):.4f}" for each in losses.values())
        rows.append((f"{first + 1} to {end}", *means))
    ends = [final(each) for each in losses.values()]
    rows.append(("last quarter", *(f"{end:.4f}" for end in ends)))
    rows.append(("to bf16", *(f"{end / ends[0]:.4f}" for end in ends)))
    return "\n".join(
        f"{name:14}{''.join(f'{cell:>10}' for cell in cells)}" for name, *cells in rows
    )


def by_seed(runs: Mapping[int, Losses]) -> str:
    """For each seed the last quarters as parts of bf16's, and the mean of these over all."""
    shares = {
        f"seed {seed}": [final(each) / final(losses["bf16"]) for each in losses.values()]
        for seed, losses in runs.items()
    }
    shares["mean"] = np.mean(list(shares.values()), 0).tolist()
    return "\n".join(
        f"{name:14}{''.join(f'{share:>10.4f}' for share in row)}" for name, row in shares.items()
    )


def write_losses(path: Path, losses: Losses) -> None:
    if path.suffix == ".json":
        ends = {name: final(each) for name, each in losses.items()}
        text = json.dumps({"final": ends, "losses": losses}, indent=1) + "\n"
        write_output(str(path), text.encode())
        return
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("step", *losses))
    rows = zip(*losses.values(), strict=True)
    writer.writerows((number, *row) for number, row in enumerate(rows, 1))
    write_output(str(path), file.getvalue().encode())


def plot(path: Path, losses: Losses) -> None:
    """Running means of the losses, and below how far they are from that of bf16."""
    import matplotlib as mpl  # pyright: ignore[reportMissingImports]

    mpl.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    window = max(1, len(losses["bf16"]) // ROWS)
    means = {
        name: np.convolve(each, np.ones(window) / window, "valid") for name, each in losses.items()
    }
    steps = np.arange(window, len(losses["bf16"]) + 1)
    figure, (above, below) = pyplot.subplots(
        2, sharex=True, figsize=(7, 5.5), height_ratios=(2, 1), layout="constrained"
    )
    for name, mean in means.items():
        colour, line = STYLES[name]
        above.plot(steps, mean, line, color=colour, label=name)
        below.plot(steps, 100 * (mean / means["bf16"] - 1), line, color=colour)
    above.set_ylabel(f"loss, mean of {window} steps")
    above.legend()
    below.set_ylabel("from bf16, %")
    below.set_ylim(-4, 4)
    below.axhspan(-2, 2, color="black", alpha=0.08)
    below.set_xlabel("step")
    save(path, figure)


def save(path: Path, figure: Any) -> None:
    """Write a figure of matplotlib: the same bytes of the same numbers."""
    import matplotlib as mpl  # pyright: ignore[reportMissingImports]

    mpl.rcParams.update({"svg.hashsalt": "mlir-fp8", "svg.fonttype": "none"})
    kind, file = path.suffix[1:], io.BytesIO()
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_output(str(path), file.getvalue())


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="default: %(default)s")
    parser.add_argument(
        "--seed",
        type=int,
        nargs="+",
        default=[0],
        help="of the order of the text; several: of each",
    )
    parser.add_argument(
        "--backward", default="f8E5M2", metavar="TYPE", help="of gradients; default: %(default)s"
    )
    parser.add_argument("--unscaled", action="store_true", help="also with scales that stay 1")
    parser.add_argument(
        "--text", type=Path, nargs="+", default=[TEXT], help="default: examples/prose.txt"
    )
    parser.add_argument("--plot", type=Path, help=f"draw the losses: {', '.join(PLOTS)}")
    parser.add_argument("--output", type=Path, help=f"write the losses: {', '.join(OUTPUTS)}")
    return parser.parse_args(argv)


def checked(options: argparse.Namespace) -> None:
    """Refuse, before the work, what could not be done after it."""
    if options.steps < 1 or min(options.seed) < 0:
        raise mlir_fp8.Fp8Error("--steps is 1 or more, --seed 0 or more")
    for path, suffixes in ((options.plot, PLOTS), (options.output, OUTPUTS)):
        if path is not None:
            check_file(path, suffixes)


def check_file(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse what could not be written, or not be drawn."""
    if path.suffix not in suffixes:
        raise mlir_fp8.Fp8Error(f"{path}: its name ends in one of {', '.join(suffixes)}")
    if not path.parent.is_dir():
        raise mlir_fp8.Fp8Error(f"{path}: there is no folder {path.parent}")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise mlir_fp8.Fp8Error(f"{path}: it cannot be written: give another name")
    if suffixes == PLOTS and find_spec("matplotlib") is None:
        raise mlir_fp8.Fp8Error(f"{path}: drawing needs matplotlib: {INSTALL}")


def run(argv: Sequence[str]) -> int:
    options = arguments(argv)
    checked(options)
    windows = read_windows(options.text)
    steps = variants(options.backward, unscaled=options.unscaled)
    runs = {
        seed: {each.name: train(each, batches(windows, seed), options.steps) for each in steps}
        for seed in options.seed
    }
    losses = runs[options.seed[0]]
    print(table(losses))
    if len(runs) > 1:
        print(by_seed(runs))
    if options.output:
        write_losses(options.output, losses)
    if options.plot:
        plot(options.plot, losses)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    return run_command(run, argv, "train_fp8.py")


if __name__ == "__main__":
    sys.exit(main())
