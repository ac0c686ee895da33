"""`python -m benchmarks devices make DIR` and `devices model`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import plot
from benchmarks.devices import model

MAKE, MODEL = "make", "model"
SUMMARY = "a folder for another machine, devices make DIR --device=gpu; step times, devices model"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    return {MAKE: _make, MODEL: _model}[arguments[0]](arguments[1:])


def _model(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks devices model",
        description="How much faster FP8 makes a step on 8 to 16,384 devices, by rates measured.",
    )
    parser.add_argument("--measured", type=Path, metavar="FILE", help="as measured.json")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture: svg, png or pdf")
    options = parser.parse_args(arguments)
    if options.plot is not None and (reason := plot.refusal(options.plot)):
        print(f"error: {reason}", file=sys.stderr)
        return 1
    measured = model.read(options.measured or model.MEASURED)
    made = model.Model(model.calibrated(measured["two H200"]), model.Assumed(), model.Layer())
    print("\n".join([*model.lines(made), *model.cpu_lines(measured["XLA:CPU"])]))
    if options.plot is not None:
        model.draw(options.plot, made)
    return 0


def _make(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks devices make",
        description="Write the programs before and after, and run.py, which needs jax and numpy.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--devices", default="2,4,8", metavar="N,...")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it work?")
    options = parser.parse_args(arguments)
    counts = [int(each) if each.isdecimal() else 0 for each in options.devices.split(",")]
    if not all(2 <= count <= 8 for count in counts):
        print(f"error: --devices={options.devices}: give numbers from 2 to 8", file=sys.stderr)
        return 1
    try:
        import jax  # pyright: ignore[reportMissingImports]
    except ImportError:
        print("error: jax is not installed, which writes the programs", file=sys.stderr)
        return 1
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", max(counts))
    from benchmarks.devices.make import make

    for line in make(options.folder, counts, device=options.device, quick=options.quick):
        print(line, flush=True)
    print(f"{options.folder} is whole: run python {options.folder}/run.py"
          f" --device={options.device} there")  # fmt: skip
    return 0
