"""`fp8-tune`: times kernels on the card at hand, and writes the table that they are chosen by."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import (
    STANDARD_STREAM,
    print_to_stderr,
    read_input,
    run_command,
    write_output,
)
from mlir_fp8.tools._wall import run_walled

_STEPS = (
    "checks",
    "rates",
    "product",
    "few_rows",
    "blocks",
    "gated",
    "grouped_product",
    "attention",
)
_DESCRIPTION = """\
Times kernels for NVIDIA's GPUs beside what XLA makes, and writes the table by which
fp8-kernels-for-xla-gpu chooses: fp8-opt --fp8-kernels-for-xla-gpu=target=card.json

Where jax sees a GPU, one command does all. Else make a folder here, run its script where the GPU
is, which needs jax and numpy alone, and read what it wrote:

  fp8-tune --make=DIR
  python DIR/run.py --json times.json
  fp8-tune --read=times.json -o card.json
"""


def console_main() -> None:
    """The `fp8-tune` command."""
    run_walled(_run, "fp8-tune")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fp8-tune` on `argv` (default: the process's arguments); returns the exit status."""
    return run_command(_run, argv, "fp8-tune")


def _run(argv: Sequence[str]) -> int:
    options = _parser().parse_args(argv)
    only = [each for each in options.only.split(",") if each]
    unknown = [each for each in only if each not in _STEPS]
    if unknown:
        raise Fp8Error(f"--only={unknown[0]}: it is one of {', '.join(_STEPS)}")
    if options.make is not None and options.read is not None:
        raise Fp8Error("--make goes without --read: run the folder's script in between")
    if options.checks < 0:
        raise Fp8Error(f"--checks={options.checks}: it is a number from 0 up")
    if options.make is not None:
        if not options.make:
            raise Fp8Error("--make: a folder needs a name")
        return _make(options, Path(options.make), only)
    if options.read is not None:
        return _read(options, options.read)
    if not _sees_a_gpu():
        raise Fp8Error(
            "jax sees no GPU here: make a folder by --make=DIR, and run its run.py where one is"
        )
    with tempfile.TemporaryDirectory(prefix="fp8-tune-") as folder:
        _make(options, Path(folder), only)
        times = Path(folder) / "times.json"
        script = [sys.executable, f"{folder}/run.py", "--json", str(times)]
        if subprocess.run(script, stdout=sys.stderr, check=False).returncode and not times.exists():
            raise Fp8Error("the script on the card ended before it wrote a time")
        return _read(options, str(times))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fp8-tune",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--make", metavar="DIR", help="write the folder for a card")
    parser.add_argument("--read", metavar="FILE", help="a table of these times (-: stdin)")
    parser.add_argument("-o", default=STANDARD_STREAM, metavar="FILE", dest="output",
                        help="of the table (default: stdout)")  # fmt: skip
    parser.add_argument("--base", default="h200", metavar="TABLE",
                        help="h100, h200 or a file: says what was not timed")  # fmt: skip
    parser.add_argument("--checks", type=int, default=200, metavar="N",
                        help="random products whose values are checked on the card")  # fmt: skip
    parser.add_argument("--only", default="", metavar="STEP,...", help=", ".join(_STEPS))
    parser.add_argument("--quick", action="store_true", help="small sizes: does it work?")
    return parser


def _make(options: argparse.Namespace, folder: Path, only: Sequence[str]) -> int:
    from mlir_fp8.tuning.plan import write

    try:
        for line in write(folder, quick=options.quick, checks=options.checks, only=only):
            print_to_stderr(line)
    except OSError as error:
        raise Fp8Error(f"cannot write '{folder}': {error.strerror}") from error
    return 0


def _read(options: argparse.Namespace, file: str) -> int:
    from mlir_fp8.lowering.gpu.xla.costs import costs_of, text_of
    from mlir_fp8.tuning.tables import table_of, times_in

    name, data = read_input(file)
    content, before = times_in(name, data), costs_of(options.base)
    try:
        table = table_of(content, before)
    except Fp8Error as error:
        raise Fp8Error(f"{name}: {error}") from error
    write_output(options.output, text_of(table).encode())
    return 0


def _sees_a_gpu() -> bool:
    try:
        import jax  # pyright: ignore[reportMissingImports]

        return bool(jax.devices("gpu"))
    except (ImportError, RuntimeError):
        return False


if __name__ == "__main__":
    console_main()
