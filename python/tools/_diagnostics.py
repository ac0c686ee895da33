"""MLIR's diagnostics as `fp8-opt` shows them: `file:line:column: error: message`."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from mlir_fp8.errors import Fp8Error

if TYPE_CHECKING:
    from torch_mlir import ir

# The file name that MLIR gives to text parsed from memory.
_MEMORY = "-"
_OPERATION_NOTE = "see current operation: "
_LONGEST_NOTE = 400
_PLACE = re.compile(r"(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Report:
    """One diagnostic, or one note of it; `severity` is error, warning, remark or note."""

    severity: str
    place: Place | None
    message: str

    def __str__(self) -> str:
        if self.place is None:
            return f"{self.severity}: {self.message}"
        place = self.place
        return f"{place.file}:{place.line}:{place.column}: {self.severity}: {self.message}"

    @property
    def is_operation(self) -> bool:
        """Whether this is the note in which MLIR prints the op that a diagnostic is about."""
        return self.severity == "note" and self.message.startswith(_OPERATION_NOTE)


def print_report(report: Report) -> None:
    """Print on stderr; an op's text is cut to its first line, as it may be the whole module."""
    if report.is_operation:
        operation = report.message.removeprefix(_OPERATION_NOTE).strip()
        line = operation.split("\n", 1)[0][:_LONGEST_NOTE]
        dots = "" if line == operation else " ..."
        report = replace(report, message=f"{_OPERATION_NOTE}{line}{dots}")
    if sys.stderr is not None:
        print(report, file=sys.stderr, flush=True)


def error_report(error: Fp8Error) -> Report:
    """The error, with the place that its message starts with, if any."""
    match = _PLACE.fullmatch(str(error))
    if match is None:
        return Report("error", None, str(error))
    place = Place(match["file"], int(match["line"]), int(match["column"]))
    return Report("error", place, match["message"])


@contextmanager
def listening(context: "ir.Context", file: str, hear: Callable[[Report], None]) -> Iterator[None]:
    """Call `hear` with every diagnostic in `context`; `file` names text parsed from memory."""

    def handle(diagnostic: "ir.Diagnostic") -> bool:
        for part in (diagnostic, *diagnostic.notes):
            severity = part.severity.name.lower()
            hear(Report(severity, _place(part.location, file), part.message))
        return True

    handler: Any = context.attach_diagnostic_handler(handle)
    try:
        yield
    finally:
        handler.detach()


def _place(location: "ir.Location", file: str) -> Place | None:
    """The first file position inside `location`, in MLIR's order of looking."""
    from torch_mlir import ir

    if isinstance(location, ir.FileLineColLoc):
        if location.start_line == 0:
            return None
        name = file if location.filename == _MEMORY else location.filename
        return Place(name, location.start_line, location.start_col)
    inner: Sequence[ir.Location] = []
    if isinstance(location, ir.CallSiteLoc):
        inner = [location.callee, location.caller]
    elif isinstance(location, ir.NameLoc):
        inner = [location.child_loc]
    elif isinstance(location, ir.FusedLoc):
        inner = cast(Sequence[ir.Location], location.locations)
    return next((place for each in inner if (place := _place(each, file))), None)
