"""`fp8-run --report`: a report on every value as a page and as JSON, and its summary."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import write_output

if TYPE_CHECKING:
    import numpy as np
    from torch_mlir import ir

KINDS = (".html", ".json")


def check_names(files: Sequence[str]) -> None:
    """Refuse files whose kind their names do not tell, that have no folder, and one file twice.

    Before anything runs: a report can take long, and the second file's error would come after the
    first one is written.
    """
    for file in files:
        if PurePath(file).suffix not in KINDS:
            raise Fp8Error(f"--report '{file}': its name must end in .html or .json")
        if not Path(file).absolute().parent.is_dir():
            raise Fp8Error(f"cannot write '{file}': No such file or directory")
        if Path(file).is_dir():
            raise Fp8Error(f"cannot write '{file}': Is a directory")
    if len({Path(file).resolve() for file in files}) != len(files):
        raise Fp8Error("--report names one file twice")


def write_reports(
    files: Sequence[str],
    name: str,
    module: "ir.Module",
    arrays: "Sequence[np.ndarray]",
    *,
    entry: str,
    saturate: bool,
) -> Iterator[str]:
    """Write `files` and give the summary's lines; each file is whole or not there."""
    from mlir_fp8.reporting.report import report_on
    from mlir_fp8.reporting.words import summary

    found = report_on(module, arrays, name=name, entry=entry, saturate=saturate)
    # All before the first is written, so that what goes wrong here leaves no file behind.
    texts = [found.to_html() if _is_page(file) else found.to_json() for file in files]
    for file, text in zip(files, texts, strict=True):
        write_output(file, text.encode())
    return summary(found)


def _is_page(file: str) -> bool:
    return PurePath(file).suffix == KINDS[0]
