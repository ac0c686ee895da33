"""`python -m benchmarks devices make DIR`: a folder that a machine with devices runs by itself."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

SUMMARY = "a folder for another machine, as for GPUs: devices make DIR --device=gpu --devices=2"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
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
