"""What `fp8-run --reduce` does after the comparison."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.judging.judges import Verdict
from mlir_fp8.reduction.reduce import Reduction, cut_down
from mlir_fp8.tools._command import STANDARD_STREAM, write_output
from mlir_fp8.tools._run_files import ARGUMENT, write_arrays
from mlir_fp8.tools._run_options import Options, arguments_beside


def reduce_to_files(
    module: ir.Module, arguments: Sequence[np.ndarray], verdict: Verdict, options: Options
) -> None:
    """Write the reduced module and its arguments, and say in one line what was cut."""
    assert options.reduce is not None
    if not Path(options.reduce).absolute().parent.is_dir():
        raise Fp8Error(f"cannot write '{options.reduce}': there is no such folder")
    try:
        reduction = cut_down(
            module,
            arguments,
            verdict,
            tolerance=options.tolerance,
            entry=options.entry,
            say=_overwrite_line if _is_terminal() else None,
        )
    finally:
        if _is_terminal():
            _overwrite_line("")
    _write_both(options.reduce, reduction)
    write_output(STANDARD_STREAM, f"{_summary(options.reduce, reduction)}\n".encode())


def _summary(path: str, reduction: Reduction) -> str:
    verdict = reduction.verdict
    worst = max(verdict.agreements, key=lambda each: each.relative)
    before, after = (
        f"{count} op{'' if count == 1 else 's'}"
        for count in (reduction.ops_before, reduction.ops_after)
    )
    return (
        f"reduced: {before} -> {after}, on which "
        f"{worst.judge} differs from {verdict.reference} by {worst.relative:.2e}: "
        f"{path}, {arguments_beside(path)}"
    )


def _write_both(path: str, reduction: Reduction) -> None:
    """Both files or neither: a module without the arguments that it fails on shows nothing."""
    beside = Path(arguments_beside(path))
    before = beside.read_bytes() if beside.is_file() else None
    write_arrays(str(beside), reduction.arrays, ARGUMENT)
    try:
        write_output(path, f"{reduction.module}".encode())
    except BaseException:
        if before is None:
            beside.unlink()
        else:
            write_output(str(beside), before)
        raise


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _overwrite_line(text: str) -> None:
    # To the start of the line, what is new, and nothing of what was longer.
    print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
