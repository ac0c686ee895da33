"""`python -m benchmarks gpu make DIR` and `gpu run DIR`."""

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

SUMMARY = "XLA:GPU with our passes beside plain JAX and PyTorch: gpu make DIR, gpu run DIR"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks gpu",
        description="Make the artifacts on any machine; run them where a GPU is: that machine needs"
        " jax and numpy alone, and DIR/run.py does without this project.",
    )
    parser.add_argument("action", choices=("make", "run"))
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="make: small sizes, does it work?")
    parser.add_argument("--only", default="", metavar="PART,...", help="make: cases by names")
    options, rest = parser.parse_known_args(arguments)
    if options.action == "make":
        if rest:
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        return _make(options)
    script = options.folder / "run.py"
    if not script.is_file():
        print(f"error: {script}: there is none, make it by: gpu make DIR", file=sys.stderr)
        return 1
    sys.path.insert(0, str(options.folder))
    only = ["--only", options.only] if options.only else []
    return runpy.run_path(str(script))["main"]([*only, *rest])


def _make(options: argparse.Namespace) -> int:
    try:
        from benchmarks.gpu.make import make
    except ImportError as error:
        print(f"error: {error.name} not installed, which writes the programs", file=sys.stderr)
        return 1
    only = [each for each in options.only.split(",") if each]
    for line in make(options.folder, quick=options.quick, only=only):
        print(line, flush=True)
    print(f"{options.folder} is whole: carry it to the GPU, and run python {options.folder}/run.py")
    return 0
